import type { CallerSide } from './caller-side.ts';
import type { EndedByUs } from './held-call.ts';

/** How a call ends: whether the gateway ended it, whether the caller had left, and whether its charge is decided. */
export class CallEnding {
  readonly #caller: Pick<CallerSide, 'gone'>;
  #byUs: EndedByUs | null = null;
  /** `null` until somebody waits for it. */
  #early: PromiseWithResolvers<undefined> | null = null;
  #hungUp: boolean | null = null;
  #closing = false;

  constructor(caller: Pick<CallerSide, 'gone'>) {
    this.#caller = caller;
  }

  /** Why the gateway ended the provider's answer; `null`: it did not. */
  get byUs(): EndedByUs | null {
    return this.#byUs;
  }

  /** Resolves when the gateway ends the call early. */
  get early(): Promise<undefined> {
    this.#early ??= Promise.withResolvers<undefined>();
    if (this.#byUs !== null) this.#early.resolve(undefined);
    return this.#early.promise;
  }

  /** True once the end is decided: a caller who leaves from then on has left after the call. */
  get decided(): boolean {
    return this.#hungUp !== null;
  }

  /** Whether the caller had left when the end of the call was decided; false before. */
  get hungUp(): boolean {
    return this.#hungUp ?? false;
  }

  /** True once the charge of the call has been decided. */
  get closing(): boolean {
    return this.#closing;
  }

  /** The first cause counts. Once the caller has left, every cause but the gate counts as the hang-up. */
  endEarly(cause: EndedByUs): void {
    this.#byUs ??= this.#caller.gone && cause !== 'gate' ? 'hang_up' : cause;
    this.#early?.resolve(undefined);
  }

  /** Decides the end of the call, if it is not decided yet. */
  decide(): void {
    this.#hungUp ??= this.#caller.gone;
  }

  /** The charge of the call is decided. */
  close(): void {
    this.decide();
    this.#closing = true;
  }
}
