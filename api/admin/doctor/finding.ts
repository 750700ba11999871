/** What one check of `faregate doctor` has found, for the operator. No secret, and nothing that a provider wrote. */
export interface Finding {
  check: string;
  state: 'ok' | 'warning' | 'problem';
  found: string;
  /** `null`: nothing. */
  todo: string | null;
}

export const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found, todo: null });

/** It works all the same. */
export const warning = (check: string, found: string, todo: string): Finding => ({
  ...{ check, state: 'warning', found, todo },
});

/** Something does not work until the operator has mended it. */
export const problem = (check: string, found: string, todo: string): Finding => ({
  ...{ check, state: 'problem', found, todo },
});
