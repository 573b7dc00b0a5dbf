/** Words that make a name secret wherever they stand in it, as in `x-auth-token`. */
const ANYWHERE = words(
  'auth oauth authorization authorisation authentication bearer cookie cookies token tokens secret secrets',
  'signature signatures sig hmac password passwords passwd pwd passphrase passcode credential credentials creds',
  'apikey jwt session sessionid sid otp csrf xsrf bypass',
)
/** Words that do at the end, as in `db-pass` and `card_pin`, but not before others. */
const LAST = words('pass pin')
/** Words that do alone: a `code` lets somebody in, a `country_code` does not. */
const ALONE = words('key code access private')
/** Before `key` at the end. */
const KEYS = words('api access private secret encryption signing shared master service')
/** A name that ends so says something about the secret: `x-token-count`, `session_type`. */
const ABOUT = words('count counts length size limit total type expires expiry ttl status')
/** Words that are written together, as in `accesstoken`. */
const GLUED = /(?:token|secret|password|passwd|cookie|apikey|signature|sess(?:ion)?id|credentials?)$/

/** What services make as keys, unlike `PROJ-1` or the path of a file. */
const MADE = /^(?=.*\d)(?=.*[a-z])[\w~+=-]{20,}$/i

/**
 * Whether the value of a header, a parameter or a field of this name may let somebody in. A name is judged by its words, so
 * that `author` is not taken for `auth`. A `key` alone may be anything, so its values are looked at if they are given.
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
