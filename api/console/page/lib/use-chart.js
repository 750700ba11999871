import { useEffect, useRef, useState } from '/console/vendor/preact-hooks.js';

/**
 * A box, and the chart in it once its library is there. It is opened anew when one of `on` changes, or the page's colours:
 * those of a canvas do not follow by themselves.
 *
 * @template {{ close: () => void }} Chart
 * @param {(parent: HTMLElement) => Promise<Chart>} open
 * @param {readonly unknown[]} on
 */
export function useChart(open, on) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const chart = useRef(/** @type {Chart | null} */ (null));
  const dark = useDark();
  useEffect(() => {
    const parent = box.current;
    if (parent === null) return undefined;
    let over = false;
    void open(parent).then((opened) => {
      if (over) opened.close();
      else chart.current = opened;
    });
    return () => {
      over = true;
      chart.current?.close();
      chart.current = null;
    };
  }, [...on, dark]);
  return { box, chart };
}

function useDark() {
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
