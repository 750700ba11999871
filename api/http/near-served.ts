/**
 * What is served at the end of a path that is not: clients of some formats add `/v1` to their base URL, others want it
 * there, and which one is at hand is the first thing that newcomers get wrong. `null`: nothing like it is served.
 *
 * @param served As `POST /v1/chat/completions`.
 */
export function nearServed(path: string, served: readonly string[], basePath: string): string | null {
  const asked = segmentsOf(path);
  let nearest: string | null = null;
  for (const route of served) {
    const wanted = segmentsOf(route.slice(route.indexOf(' ') + 1 + basePath.length));
    const isEnd = wanted.every((segment, index) => asked[asked.length - wanted.length + index] === segment);
    if (isEnd && route.length > (nearest?.length ?? 0)) nearest = route;
  }
  return nearest;
}

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '');
