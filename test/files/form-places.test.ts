import { afterAll, beforeAll, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { completeUpload } from '@/server/files/direct/complete'
import {
  CANCELLED_TIMES,
  OPEN_OF_FORMS,
  OPEN_PER_CALLER,
  OPEN_PER_LINK,
  OPEN_PER_TENANT,
  RECEIVING_FORM,
} from '@/server/files/direct/limits'
import { revokeStartLink } from '@/server/links/start/revoke'
import { startByLink } from '@/server/links/start/submit'
import { beginLinkUpload, cancelLinkUpload, completeLinkUpload } from '@/server/links/start/upload'
import { archiveWorkflow } from '@/server/workflows/lifecycle'
import { newMember } from '../members/people'
import { outcome } from '../workflows/support'
import { BYTES, type DirectService, directService } from './direct-service'

let service: DirectService
beforeAll(async () => {
  service = await directService()
})
afterAll(() => service?.stop())

const at = (n: number) => ({ 'x-forwarded-for': `198.51.100.${n}` })
const begin = (token: string, n: number) =>
  outcome(beginLinkUpload(service.visitor(at(n)), { token, body: service.body }))
const begun = (results: unknown[]) => results.filter((one) => typeof one === 'object')
const fill = (token: string, n: number, times = OPEN_PER_CALLER) =>
  Promise.all(Array.from({ length: times }, () => begin(token, n)))
const clear = () => service.runtime.db.delete(files)

test('a visitor who has used up their places locks out no other address, link, member or key', async () => {
  const { token } = await service.link()
  expect(begun(await fill(token, 1, OPEN_PER_CALLER + 2))).toHaveLength(OPEN_PER_CALLER)
  expect(await begin(token, 1)).toBe('CONFLICT')
  expect(await begin(token, 2)).toMatchObject({ id: expect.any(String) })
  expect(await begin((await service.link()).token, 1)).toMatchObject({ id: expect.any(String) })
  const rows = await service.runtime.db.select().from(files)
  expect(JSON.stringify(rows)).not.toContain('198.51.100')
  await clear()
})

test('a link, and all links of a workspace, have only so many places, and members and keys have others', async () => {
  const { ctx, link, database } = service
  const links = await Promise.all(Array.from({ length: 3 }, () => link()))
  const addresses = OPEN_PER_LINK / OPEN_PER_CALLER
  const results: unknown[][] = []
  for (const { token } of links) for (let n = 1; n <= addresses + 1; n++) results.push(begun(await fill(token, n)))
  expect(results.flat()).toHaveLength(OPEN_OF_FORMS)
  expect(results.slice(0, addresses).flat()).toHaveLength(OPEN_PER_LINK)
  expect(results[addresses]).toEqual([])
  const people = await Promise.all(Array.from({ length: 5 }, () => newMember(database, ctx, 'operator')))
  const own = await Promise.all(
    people.flatMap((one) => Array.from({ length: OPEN_PER_CALLER }, () => outcome(service.begin(one.ctx)))),
  )
  expect(begun(own)).toHaveLength(OPEN_PER_TENANT)
  expect(await outcome(service.begin(ctx))).toBe('CONFLICT')
  await clear()
})

test('who begins and cancels uploads over and over has to wait', async () => {
  const { token } = await service.link()
  for (let times = 0; times < CANCELLED_TIMES * OPEN_PER_CALLER; times++) {
    const one = (await begin(token, 1)) as { id: string }
    await cancelLinkUpload(service.visitor(at(1)), { token, fileId: one.id })
  }
  expect(await begin(token, 1)).toBe('CONFLICT')
  expect(await begin(token, 2)).toMatchObject({ id: expect.any(String) })
  await clear()
})

test('a form sends what was uploaded from another address, and the run keeps nothing of the address', async () => {
  const { token } = await service.link()
  const one = (await begin(token, 1)) as Awaited<ReturnType<typeof service.begin>>
  await service.send(one)
  await completeLinkUpload(service.visitor(at(2)), { token, fileId: one.id })
  const form = { token, formId: 'form-of-a-phone', data: {}, files: [{ part: 'paper', file: { uploaded: one.id } }] }
  expect(await outcome(startByLink(service.visitor(at(3)), form))).toMatchObject({ state: 'started' })
  const row = await service.rowOf(one.id)
  expect(row?.runId).toMatch(/^run_/)
  expect(row?.uploadedBy).toMatch(/^[\w-]{43}$/)
  await clear()
})

test('bytes that visitors send slowly hold up no member, and no visitor at another address', async () => {
  const { token } = await service.link()
  let go = () => {}
  const gone = new Promise<void>((resolve) => {
    go = resolve
  })
  const slow = async function* () {
    yield BYTES.subarray(0, 1)
    await gone
    yield BYTES.subarray(1)
  }
  const one = async (n: number) => (await begin(token, n)) as Awaited<ReturnType<typeof service.begin>>
  const held = await Promise.all(Array.from({ length: RECEIVING_FORM.perTenant }, () => one(1)))
  const sending = held.map((each) => outcome(service.send(each, slow)))
  const [same, other, own] = [await one(1), await one(2), await service.begin()]
  expect(await outcome(service.send(same))).toBe('UNAVAILABLE')
  expect(await service.send(other)).toMatchObject({ id: other.id })
  expect(await service.send(own)).toMatchObject({ id: own.id })
  expect(await completeUpload(service.ctx, { fileId: own.id })).toMatchObject({ id: own.id })
  go()
  expect(begun(await Promise.all(sending))).toHaveLength(held.length)
  expect(await service.send(same)).toMatchObject({ id: same.id })
  await clear()
})

test('an upload says why its link does not work', async () => {
  const { ctx, workflow, link, visitor, body, database } = service
  const refusal = async (token: string) => {
    const refused = beginLinkUpload(visitor(), { token, body })
    return refused.then(
      () => 'begun',
      (err: Error) => err.message,
    )
  }
  const workflowId = await workflow()
  const [revoked, expired, closed] = [await link(workflowId), await link(workflowId), await link(workflowId)]
  await revokeStartLink(ctx, { workflowId, linkId: revoked.id })
  expect(await refusal(revoked.token)).toBe('This link was withdrawn')
  await database.sql`update start_links set expires_at = now() where id = ${expired.id}`
  expect(await refusal(expired.token)).toBe('This link has expired')
  await archiveWorkflow(ctx, { id: workflowId })
  expect(await refusal(closed.token)).toBe('This form is closed')
  expect(await refusal('a guess')).toBe('This link does not work')
  expect(await refusal((await link(await workflow({ a: { type: 'string' } }))).token)).toBe('This form takes no file')
})
