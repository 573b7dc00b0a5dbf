/**
 * Where to go after signing in: always a path on this origin.
 * @param wanted a path, or a URL whose path is used
 */
export function nextPath(wanted: string | undefined): string {
  if (!wanted || !URL.canParse(wanted, BASE)) return '/'
  const { protocol, pathname, search, hash } = new URL(wanted, BASE)
  if (!/^https?:$/.test(protocol)) return '/'
  const path = pathname.replace(/^\/+/, '/')
  return /^\/(sign-in|setup|api)(\/|$)/.test(path) ? '/' : path + search + hash
}

const BASE = 'http://localhost'
