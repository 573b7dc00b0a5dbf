import { eq } from 'drizzle-orm'
import { SignJWT } from 'jose'
import jsonwebtoken from 'jsonwebtoken'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { signingSecrets } from '@/db/schema/secrets'
import { secretPlace } from '@/server/auth/jwt'
import { disableSigningSecret, enableSigningSecret } from '@/server/credentials/signing-secrets/disable'
import { seal } from '@/server/crypto'
import type { JsonObject } from '@/server/definition/json'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { PATIENCE } from '../support/patience'
import { AUDIENCE, bearer, claims, encode, identify, mint, NOW, newSigner, SECONDS, type Signer } from './support'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.JWT_AUDIENCE = 'app.example.com'
  process.env.LOG_LEVEL = 'silent'
})

let database: FreshDatabase
let mine: Signer
let other: Signer
let disabled: Signer

beforeAll(async () => {
  database = await freshDatabase()
  mine = await newSigner(database)
  other = await newSigner(database)
  disabled = await newSigner(database)
  await disableSigningSecret(disabled.ctx, disabled.id)
})
afterAll(() => database.close())

const header = (more: object = {}) => ({ alg: 'HS256', typ: 'JWT', kid: mine.id, ...more })
/** A valid token except for the given changes. */
const token = (changes: Record<string, unknown> = {}, more: object = {}) =>
  mint(header(more), claims(changes), mine.secret)
const nested = (depth: number): JsonObject => (depth === 0 ? {} : { a: nested(depth - 1) })
/** The payload as text, for things JSON.stringify cannot write. */
const raw = (changes: Record<string, string>) => {
  const fields = { sub: '"user_123"', aud: `"${AUDIENCE}"`, iat: `${SECONDS}`, exp: `${SECONDS + 3600}`, ...changes }
  const text = Object.entries(fields).map(([name, value]) => `"${name}":${value}`)
  return mint(header(), `{${text.join(',')}}`, mine.secret)
}
const without = (...names: string[]) =>
  mint(header(), Object.fromEntries(Object.entries(claims()).filter(([name]) => !names.includes(name))), mine.secret)

type Vector = [name: string, token: () => string]

const ACCEPTED: Vector[] = [
  ['all that the document names', () => token({ context: { name: 'Ada', email: 'ada@example.com' } })],
  ['no context', () => token()],
  ['no iat', () => without('iat')],
  ['no typ', () => mint({ alg: 'HS256', kid: mine.id }, claims(), mine.secret)],
  ['an audience among others', () => token({ aud: ['elsewhere.example.com', AUDIENCE] })],
  ['a life of exactly 24 hours', () => token({ exp: SECONDS + 86_400 })],
  ['expired within the skew', () => token({ iat: SECONDS - 3600, exp: SECONDS - 59 })],
  ['issued within the skew', () => token({ iat: SECONDS + 59 })],
  ['not valid before, within the skew', () => token({ nbf: SECONDS + 59 })],
  ['keyid in a hand-made header', () => mint({ alg: 'HS256', keyid: mine.id }, claims(), mine.secret)],
  ['keyid in a hand-made payload', () => mint({ alg: 'HS256' }, claims({ keyid: mine.id }), mine.secret)],
  ['kid and keyid that agree', () => token({ keyid: mine.id }, { keyid: mine.id })],
  ['a subject of 256 characters', () => token({ sub: 's'.repeat(256) })],
  ['a context 8 levels deep', () => token({ context: nested(7) })],
  ['claims that mean nothing here', () => token({ role: 'owner', tenantId: 'ten_x', iss: 'x', jti: 'y' })],
]

const REFUSED: Vector[] = [
  ['alg none without a signature', () => `${encode({ alg: 'none', kid: mine.id })}.${encode(claims())}.`],
  ['alg none with a signature', () => mint(header({ alg: 'none' }), claims(), mine.secret)],
  ['alg None in other letters', () => mint(header({ alg: 'nOnE' }), claims(), mine.secret)],
  ['alg HS512, signed so', () => mint(header({ alg: 'HS512' }), claims(), mine.secret, 'sha512')],
  ['alg HS384, signed so', () => mint(header({ alg: 'HS384' }), claims(), mine.secret, 'sha384')],
  ['alg RS256, signed with the secret', () => mint(header({ alg: 'RS256' }), claims(), mine.secret)],
  ['alg missing', () => mint({ kid: mine.id }, claims(), mine.secret)],
  ['alg a list', () => mint(header({ alg: ['HS256'] }), claims(), mine.secret)],
  ['an unknown critical extension', () => token({}, { crit: ['x'], x: 1 })],
  ['an unencoded payload', () => token({}, { crit: ['b64'], b64: false })],
  ['b64 without crit', () => token({}, { b64: true })],
  ['kid missing', () => mint({ alg: 'HS256' }, claims(), mine.secret)],
  ['kid null', () => token({}, { kid: null })],
  ['kid a number', () => token({}, { kid: 12345678 })],
  ['kid a list', () => token({}, { kid: [mine.id] })],
  ['kid an object', () => token({}, { kid: { id: mine.id } })],
  ['kid with NUL', () => token({}, { kid: `${mine.id}\u0000` })],
  ['kid with a line break', () => token({}, { kid: `${mine.id}\n` })],
  ['kid with SQL', () => token({}, { kid: "' or '1'='1" })],
  ['kid a path', () => token({}, { kid: '../../../../dev/null' })],
  ['kid too short', () => token({}, { kid: 'sec_1' })],
  ['kid too long', () => token({}, { kid: 'k'.repeat(65) })],
  ['kid unknown', () => token({}, { kid: 'sec_00000000000000000000000000' })],
  ['kid in another case', () => token({}, { kid: mine.id.toLowerCase() })],
  ['kid and keyid disagree', () => token({}, { keyid: other.id })],
  ['kid and keyid of the payload disagree', () => token({ keyid: other.id })],
  ['keyid of the payload is not a text', () => token({ keyid: 1 })],
  ['signed by another tenant under my kid', () => mint(header(), claims(), other.secret)],
  ['signed by me under the kid of another tenant', () => mint(header({ kid: other.id }), claims(), mine.secret)],
  ['a disabled secret', () => mint({ alg: 'HS256', kid: disabled.id }, claims(), disabled.secret)],
  ['signed with the id of the secret', () => mint(header(), claims(), mine.id)],
  ['signed with nothing', () => mint(header(), claims(), '')],
  [
    'the secret decoded from base64url',
    () => mint(header(), claims(), Buffer.from(mine.secret, 'base64url').toString('latin1')),
  ],
  ['payload changed after signing', () => changed(1, encode(claims({ sub: 'admin' })))],
  ['header changed after signing', () => changed(0, encode(header({ typ: 'at+jwt' })))],
  ['signature cut short', () => token().slice(0, -4)],
  ['signature empty', () => changed(2, '')],
  ['signature padded with =', () => `${token()}=`],
  ['signature with the spare bits set', () => respelled(token())],
  [
    'standard base64 instead of base64url',
    () => token({ sub: '???>>>' }).replaceAll('-', '+').replaceAll('_', '/').concat('+'),
  ],
  ['sub missing', () => without('sub')],
  ['sub empty', () => token({ sub: '' })],
  ['sub only spaces', () => token({ sub: '  ' })],
  ['sub a number', () => token({ sub: 7 })],
  ['sub an object', () => token({ sub: { id: 'user_123' } })],
  ['sub null', () => token({ sub: null })],
  ['sub with NUL', () => token({ sub: 'user\u0000' })],
  ['sub with a lone surrogate', () => raw({ sub: '"\\ud800"' })],
  ['sub of 257 characters', () => token({ sub: 's'.repeat(257) })],
  ['exp missing', () => without('exp')],
  ['exp a text', () => token({ exp: String(SECONDS + 3600) })],
  ['exp null', () => token({ exp: null })],
  ['exp infinite', () => raw({ exp: '1e400' })],
  ['exp past the skew', () => token({ iat: SECONDS - 3600, exp: SECONDS - 61 })],
  ['exp in milliseconds', () => token({ exp: (SECONDS + 3600) * 1000 })],
  ['exp ten years ahead', () => token({ exp: SECONDS + 315_360_000 })],
  ['a life of 24 hours and a second', () => token({ exp: SECONDS + 86_401 })],
  [
    'no iat and a life of more than 24 hours',
    () => mint(header(), { sub: 'u', aud: AUDIENCE, exp: SECONDS + 86_402 }, mine.secret),
  ],
  ['iat ten years ahead, to shorten the life', () => token({ iat: SECONDS + 315_356_400, exp: SECONDS + 315_360_000 })],
  ['iat past the skew', () => token({ iat: SECONDS + 62 })],
  ['iat a text', () => token({ iat: String(SECONDS) })],
  ['iat minus infinity', () => raw({ iat: '-1e400' })],
  ['nbf ahead', () => token({ nbf: SECONDS + 120 })],
  ['nbf a text', () => token({ nbf: 'now' })],
  ['aud missing', () => without('aud')],
  ['aud another', () => token({ aud: 'evil.example.com' })],
  ['aud that only begins so', () => token({ aud: `${AUDIENCE}.evil.com` })],
  ['aud in other letters', () => token({ aud: AUDIENCE.toUpperCase() })],
  ['aud an empty list', () => token({ aud: [] })],
  ['aud an object', () => token({ aud: { [AUDIENCE]: true } })],
  ['aud a list with something else in it', () => token({ aud: [AUDIENCE, 1] })],
  ['context a text', () => token({ context: 'Ada' })],
  ['context a list', () => token({ context: [] })],
  ['context null', () => token({ context: null })],
  ['context 9 levels deep', () => token({ context: nested(8) })],
  ['context with NUL', () => token({ context: { name: '\u0000' } })],
  ['context infinite', () => raw({ context: '{"n":1e400}' })],
  ['longer than 8 KB', () => token({ context: { text: 'x'.repeat(8192) } })],
  ['a megabyte', () => token({ context: { text: 'x'.repeat(1_048_576) } })],
  ['two parts', () => token().split('.').slice(0, 2).join('.')],
  ['four parts', () => `${token()}.x`],
  ['an encrypted token of five parts', () => `${encode({ alg: 'dir', enc: 'A256GCM', kid: mine.id })}..a.b.c`],
  ['header not JSON', () => mint('{', claims(), mine.secret)],
  ['header a list', () => mint([], claims(), mine.secret)],
  ['payload not JSON', () => mint(header(), '{', mine.secret)],
  ['payload a list', () => mint(header(), [], mine.secret)],
  ['payload null', () => mint(header(), 'null', mine.secret)],
  ['nothing', () => ''],
  ['dots', () => '..'],
]

function changed(part: number, text: string): string {
  return token()
    .split('.')
    .map((old, index) => (index === part ? text : old))
    .join('.')
}

/** The same bytes in another spelling: the last of 43 characters has two unused bits. */
function respelled(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return text.slice(0, -1) + alphabet[alphabet.indexOf(text.slice(-1)) + 1]
}

describe('a token', () => {
  test.each(ACCEPTED)('is accepted: %s', async (_, make) => {
    expect(await identify(database, bearer(make()))).toMatchObject({
      tenantId: mine.ctx.tenantId,
      actor: { kind: 'jwt', secretId: mine.id, role: 'operator' },
    })
  })

  test.each(REFUSED)('is refused: %s', async (_, make) => {
    expect(await identify(database, bearer(make()))).toBeNull()
  })

  test('names its subject; role and tenant come only from the secret', async () => {
    const found = await identify(database, bearer(token({ role: 'owner', tenantId: other.ctx.tenantId })))
    expect(found).toEqual({
      tenantId: mine.ctx.tenantId,
      actor: { kind: 'jwt', id: 'user_123', secretId: mine.id, role: 'operator' },
      goodUntil: expect.any(Date),
      trusted: null,
    })
  })

  test('carries a context that nothing can change', async () => {
    const found = await identify(database, bearer(token({ context: { user: { tags: ['a'] } } })))
    const context = found?.trusted as { user: { tags: string[] } }
    expect(context).toEqual({ user: { tags: ['a'] } })
    expect([context, context.user, context.user.tags].every(Object.isFrozen)).toBe(true)
  })

  test('cannot inject a prototype', async () => {
    const found = await identify(database, bearer(raw({ context: '{"__proto__":{"admin":true},"name":"Ada"}' })))
    expect(JSON.stringify(found?.trusted)).toBe('{"name":"Ada"}')
    expect(found?.trusted?.admin).toBeUndefined()
  })

  test.each([
    ['the scheme in other letters', (text: string) => ({ authorization: `bearer ${text}` }), true],
    ['another scheme', (text: string) => ({ authorization: `Basic ${text}` }), false],
    ['no scheme', (text: string) => ({ authorization: text }), false],
    ['two tokens', (text: string) => ({ authorization: `Bearer ${text}, Bearer ${text}` }), false],
    [
      'its own tenant named',
      (text: string) => ({ authorization: `Bearer ${text}`, 'x-tenant-id': mine.ctx.tenantId }),
      true,
    ],
    [
      'another tenant named',
      (text: string) => ({ authorization: `Bearer ${text}`, 'x-tenant-id': other.ctx.tenantId }),
      false,
    ],
    ['an empty tenant named', (text: string) => ({ authorization: `Bearer ${text}`, 'x-tenant-id': '' }), false],
    [
      'a bad key beside it, which decides',
      (text: string) => ({ authorization: `Bearer ${text}`, 'x-api-key': 'sk_wrongwrong' }),
      false,
    ],
    [
      'an empty key beside it, which decides',
      (text: string) => ({ authorization: `Bearer ${text}`, 'x-api-key': '' }),
      false,
    ],
  ])('with %s', async (_, headers, accepted) => {
    expect((await identify(database, new Headers(headers(token())))) !== null).toBe(accepted)
  })

  test('made with jose is accepted', async () => {
    const made = await new SignJWT({ context: { name: 'Ada' } })
      .setProtectedHeader({ alg: 'HS256', kid: mine.id })
      .setSubject('user_123')
      .setAudience(AUDIENCE)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(mine.secret))
    expect(await identify(database, bearer(made), new Date())).toMatchObject({ trusted: { name: 'Ada' } })
  })

  test('made with jsonwebtoken is accepted', async () => {
    const made = jsonwebtoken.sign({ context: { name: 'Ada' } }, mine.secret, {
      algorithm: 'HS256',
      keyid: mine.id,
      subject: 'user_123',
      audience: AUDIENCE,
      expiresIn: '1h',
    })
    expect(await identify(database, bearer(made), new Date())).toMatchObject({ trusted: { name: 'Ada' } })
  })

  test('has every digit of a long number in its context, as text', async () => {
    const made = raw({ context: '{"customer":1234567890123456789,"age":30}' })
    const found = await identify(database, bearer(made))
    expect(found?.trusted).toEqual({ customer: '1234567890123456789', age: 30 })
  })
})

describe('a signing secret', () => {
  test('works again after it is enabled, from the next request on', async () => {
    const signer = await newSigner(database)
    const made = mint({ alg: 'HS256', kid: signer.id }, claims(), signer.secret)
    const accepted = async () => (await identify(database, bearer(made))) !== null
    expect(await accepted()).toBe(true)
    await disableSigningSecret(signer.ctx, signer.id)
    expect(await accepted()).toBe(false)
    await enableSigningSecret(signer.ctx, signer.id)
    expect(await accepted()).toBe(true)
  })

  test('cannot be decrypted in another row', async () => {
    const [one, two] = [await newSigner(database), await newSigner(database)]
    const sealedOf = async (signer: Signer) =>
      (await database.db.select().from(signingSecrets).where(eq(signingSecrets.id, signer.id)))[0]?.sealed ?? ''
    const [a, b] = [await sealedOf(one), await sealedOf(two)]
    const put = (signer: Signer, sealed: string) =>
      database.db.update(signingSecrets).set({ sealed }).where(eq(signingSecrets.id, signer.id))
    await put(one, b)
    await put(two, a)
    for (const row of [one, two])
      for (const signer of [one, two])
        expect(
          await identify(database, bearer(mint({ alg: 'HS256', kid: row.id }, claims(), signer.secret))),
        ).toBeNull()
    await put(one, a)
    expect(await identify(database, bearer(mint({ alg: 'HS256', kid: one.id }, claims(), one.secret)))).not.toBeNull()
  })

  test.each(['', 'a', 'x'.repeat(31)])('of less than 32 bytes signs nothing: %j', async (short) => {
    const signer = await newSigner(database)
    const sealed = seal(short, secretPlace(signer.ctx.tenantId, signer.id))
    await database.db.update(signingSecrets).set({ sealed }).where(eq(signingSecrets.id, signer.id))
    expect(await identify(database, bearer(mint({ alg: 'HS256', kid: signer.id }, claims(), short)))).toBeNull()
  })

  test('records its use, and tokens that live longer than an hour', async () => {
    const signer = await newSigner(database)
    const use = async (exp: number) => {
      await identify(database, bearer(mint({ alg: 'HS256', kid: signer.id }, claims({ exp }), signer.secret)))
      return vi.waitFor(async () => {
        const [row] = await database.db.select().from(signingSecrets).where(eq(signingSecrets.id, signer.id))
        expect(row?.lastUsedAt).toEqual(NOW)
        return row?.longLivedAt
      }, PATIENCE)
    }
    expect(await use(SECONDS + 3600)).toBeNull()
    await database.db.update(signingSecrets).set({ lastUsedAt: null }).where(eq(signingSecrets.id, signer.id))
    expect(await use(SECONDS + 3601)).toEqual(NOW)
  })

  test('is not readable in its row', async () => {
    const [row] = await database.db.select().from(signingSecrets).where(eq(signingSecrets.id, mine.id))
    expect(JSON.stringify(row)).not.toContain(mine.secret)
    expect(Buffer.from(row?.sealed ?? '', 'base64').toString('latin1')).not.toContain(mine.secret)
  })
})
