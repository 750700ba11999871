import { inspect } from 'node:util';

/** A value that no log line, error or JSON can show by accident. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Only where the value leaves for the one place that it is meant for. */
  reveal(): string {
    return this.#value;
  }

  equals(other: Secret | null): boolean {
    return other !== null && other.#value === this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
