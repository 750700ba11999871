import { z } from 'zod';
import { answerOrRefuse } from '../../contract/errors.ts';
import { auditLedger } from '../audit-ledger.ts';
import { adminExamples } from '../examples.ts';
import { unavailable } from '../refusals.ts';
import { AuditReport } from '../schemas/audit-report.ts';
import { BillsReport, shapeBills } from '../schemas/bills-report.ts';
import { operatorProcedure, t } from '../trpc.ts';

export const ledgerRouter = t.router({
  audit: operatorProcedure({
    method: 'GET',
    path: '/ledger/audit',
    operationId: 'auditLedger',
    tag: 'Ledger',
    summary: 'Audit the ledger',
    description:
      "Checks every agent's books (granted + moved in = free + held + charged + expired + moved out), that " +
      'what is held is what calls hold, and that no call holds for longer than any rule lets it.',
    errors: [],
    examples: { answer: adminExamples.audit },
  })
    .input(z.void())
    .output(AuditReport)
    .query(async ({ ctx }) => {
      const report = await auditLedger(ctx.deps.ledger, ctx.deps.clock.now());
      return answerOrRefuse(report === 'unavailable' ? unavailable() : report);
    }),

  bills: operatorProcedure({
    method: 'GET',
    path: '/ledger/bills',
    operationId: 'compareBills',
    tag: 'Ledger',
    summary: "Compare the providers' bills with the calls",
    description:
      'What each provider that can be asked for its bill has billed since the last daily comparison, and what the calls ' +
      'of that time say that they cost there. The daily comparison goes on from where it was.',
    errors: [],
    examples: { answer: adminExamples.bills },
  })
    .input(z.void())
    .output(BillsReport)
    .query(async ({ ctx }) => shapeBills(await ctx.deps.bills.readNow())),
});
