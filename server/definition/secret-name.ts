/** The form of a name that `${secrets.NAME}` can use. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/
/** Names of that form that no secret can have. */
export const RESERVED_NAMES: readonly string[] = ['__proto__', 'prototype', 'constructor']

/** Words that make a name secret at any position, as in `x-auth-token`. */
const ANYWHERE = words(
  'auth oauth authorization authorisation authentication bearer cookie cookies token tokens secret secrets',
  'signature signatures sig hmac password passwords passwd pwd passphrase passcode credential credentials creds',
  'apikey jwt session sessionid sid otp csrf xsrf bypass',
)
/** Words that make a name secret only at its end, as in `db-pass` and `card_pin`. */
const LAST = words('pass pin')
/** Words that make a name secret only when alone: a `code` grants access, a `country_code` does not. */
const ALONE = words('key code access private')
/** Words that make a final `key` secret. */
const KEYS = words('api access private secret encryption signing shared master service')
/** Endings that describe the secret rather than hold it: `x-token-count`, `session_type`. */
const ABOUT = words('count counts length size limit total type expires expiry ttl status')
/** Words that are written together, as in `accesstoken`. */
const GLUED = /(?:token|secret|password|passwd|cookie|apikey|signature|sess(?:ion)?id|credentials?)$/

/** Keys as services generate them, unlike `PROJ-1` or the path of a file. */
const MADE = /^(?=.*\d)(?=.*[a-z])[\w~+=-]{20,}$/i

/**
 * Whether the value of a header, a parameter or a field with this name may grant access. A name is judged by its words,
 * so that `author` does not count as `auth`. A `key` alone may be anything, so its values are checked if passed.
 */
export function looksSecret(name: string, values?: string | readonly string[]): boolean {
  const said = wordsOf(name)
  if (said.length === 1 && said[0] === 'key' && values !== undefined)
    return [values].flat().some((one) => MADE.test(one))
  const last = said.at(-1) ?? ''
  if (said.length > 1 && ABOUT.has(last)) return false
  if (said.some((word) => ANYWHERE.has(word) || GLUED.test(word)) || LAST.has(last)) return true
  return said.length === 1 ? ALONE.has(last) : last === 'key' && KEYS.has(said.at(-2) ?? '')
}

/** `x-apiKey2` has the words `api` and `key`. */
function wordsOf(name: string): string[] {
  const spaced = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
  const said = spaced
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean)
  return said.length > 1 && said[0] === 'x' ? said.slice(1) : said
}

function words(...lines: string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')))
}
