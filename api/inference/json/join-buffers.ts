/** One buffer of all, without a copy where there is only one. */
export function joinBuffers(buffers: readonly Buffer[]): Buffer {
  const [first] = buffers;
  return first !== undefined && buffers.length === 1 ? first : Buffer.concat(buffers);
}
