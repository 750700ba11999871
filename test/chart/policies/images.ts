import { workloadsOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

export const images: Policy = {
  name: 'every image has a fixed version, and all are the same',
  find: ({ objects }) => {
    const used = imagesOf(objects);
    return [
      ...used
        .filter((image) => !/[:@][^/]+$/.test(image) || image.endsWith(':latest'))
        .map((image) => `${image} is any version`),
      ...(new Set(used).size > 1 ? [`there are several: ${[...new Set(used)].join(', ')}`] : []),
    ];
  },
};

export const imagesOf = (objects: Parameters<typeof workloadsOf>[0]): string[] =>
  workloadsOf(objects).flatMap(({ containers }) => containers.map(({ image }) => image));
