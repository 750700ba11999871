import { useEffect, useState } from '/console/vendor/preact-hooks.js';

/** The page that the address names: `#/calls` is `calls`. */
const currentPage = () => location.hash.replace(/^#\/?/, '');

/** @returns {string} */
export function usePage() {
  const [page, setPage] = useState(currentPage);
  useEffect(() => {
    const follow = () => setPage(currentPage());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return page;
}
