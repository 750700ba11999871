import { useEffect, useState } from '/console/vendor/preact-hooks.js';

/** Colours of a canvas do not follow the page by themselves. */
export function useDark() {
  const [dark, setDark] = useState(() => darkScheme().matches);
  useEffect(() => {
    const scheme = darkScheme();
    const follow = () => setDark(scheme.matches);
    scheme.addEventListener('change', follow);
    return () => scheme.removeEventListener('change', follow);
  }, []);
  return dark;
}

const darkScheme = () => matchMedia('(prefers-color-scheme: dark)');
