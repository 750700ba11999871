import { z } from 'zod';
import { isoTime } from '#core/clock.ts';
import { ClockAccepted } from '../schemas/clock-accepted.ts';
import { audited, operatorProcedure, t } from '../trpc.ts';

export const clockRouter = t.router({
  accept: operatorProcedure({
    method: 'POST',
    path: '/clock/accept',
    operationId: 'acceptClock',
    tag: 'Clock',
    summary: "Believe the machine's clock",
    description:
      'The clock of a machine that jumped ahead is not believed before something confirms it. This confirms it, for the ' +
      'gateway that is asked. Once a call has started, only `faregate clock repair` sets the time back.',
    errors: [],
    examples: { request: {}, answer: { accepted: true, now: '2026-11-21T10:00:00.000Z' } },
  })
    .input(z.strictObject({}))
    .output(ClockAccepted)
    .use(audited)
    .mutation(({ ctx }) => {
      const { clock } = ctx.deps;
      return { accepted: clock.accept(), now: isoTime(clock.now()) };
    }),
});
