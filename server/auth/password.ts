import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** About 100 ms and 32 MB per guess. */
const COST = { N: 2 ** 15, r: 8, p: 1 }
const HASH_BYTES = 32
/** Limits for stored hashes: a bad one must not block the process for minutes. */
const MAX_N = 2 ** 20

/** 16 characters, none easily confused with another: 80 bits. */
export function generatePassword(): string {
  const alphabet = '23456789abcdefghjkmnpqrstuvwxyzA'
  return Array.from(randomBytes(16), (byte) => alphabet[byte % alphabet.length]).join('')
}

/** @returns `scrypt$N$r$p$salt$hash` */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(password, salt, COST, HASH_BYTES)
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), hash.toString('base64')].join('$')
}

/** Also false if the stored text is not a hash of this kind. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [kind, n, r, p, salt, hash] = stored.split('$')
  const cost = { N: Number(n), r: Number(r), p: Number(p) }
  if (kind !== 'scrypt' || !salt || !hash || !(cost.N <= MAX_N)) return false
  const expected = Buffer.from(hash, 'base64')
  const actual = await derive(password, Buffer.from(salt, 'base64'), cost, expected.length)
  return timingSafeEqual(actual, expected)
}

/** Unicode can spell one character in several ways; the password must not depend on the keyboard it is typed on. */
function derive(password: string, salt: Buffer, cost: typeof COST, bytes: number): Promise<Buffer> {
  return new Promise((done, fail) => {
    const maxmem = 256 * cost.N * cost.r
    scrypt(password.normalize('NFKC'), salt, bytes, { ...cost, maxmem }, (err, key) => (err ? fail(err) : done(key)))
  })
}
