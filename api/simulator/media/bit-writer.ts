/** Writes bits as H.264 has them, the highest of a byte first. */
export class BitWriter {
  readonly #bytes: number[] = [];
  #byte = 0;
  #filled = 0;

  bits(value: number, count: number): void {
    for (let at = count - 1; at >= 0; at--) {
      this.#byte = (this.#byte << 1) | ((value >>> at) & 1);
      this.#filled += 1;
      if (this.#filled < 8) continue;
      this.#bytes.push(this.#byte);
      this.#byte = 0;
      this.#filled = 0;
    }
  }

  /** Exp-Golomb, unsigned. */
  ue(value: number): void {
    const length = 32 - Math.clz32(value + 1);
    this.bits(0, length - 1);
    this.bits(value + 1, length);
  }

  /** With zeros up to the next whole byte. */
  align(): void {
    while (this.#filled > 0) this.bits(0, 1);
  }

  /** Only where `align` was called. */
  bytes(values: Uint8Array): void {
    for (const value of values) this.#bytes.push(value);
  }

  /** The stop bit of a unit, and what was written. */
  end(): Uint8Array {
    this.bits(1, 1);
    this.align();
    return Uint8Array.from(this.#bytes);
  }
}
