/** The last one may be shorter. */
export const inPieces = <T>(items: readonly T[], length: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / length) }, (_, i) =>
    items.slice(i * length, (i + 1) * length),
  );
