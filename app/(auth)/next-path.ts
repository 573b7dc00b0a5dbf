/**
 * Where to go after signing in: a path of this origin, whatever was asked for.
 * @param wanted a path, or an address of which only the path counts
 */
export function nextPath(wanted: string | undefined): string {
  if (!wanted || !URL.canParse(wanted, BASE)) return '/'
  const { protocol, pathname, search, hash } = new URL(wanted, BASE)
  if (!/^https?:$/.test(protocol)) return '/'
  const path = pathname.replace(/^\/+/, '/')
  return /^\/(sign-in|setup|api)(\/|$)/.test(path) ? '/' : path + search + hash
}

const BASE = 'http://localhost'
