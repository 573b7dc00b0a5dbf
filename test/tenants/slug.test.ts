import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tenants } from '@/db/schema/tenants'
import { isSlug, slugCandidates, slugOf } from '@/lib/slug'
import { newId } from '@/server/ids'
import { createTenant } from '@/server/tenants/create'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

const firstOf = (name: string) => slugCandidates(name).next().value

describe('a slug', () => {
  test.each([
    ['Acme', 'acme'],
    ['  Acme, Inc.  ', 'acme-inc'],
    ['Zoë & Søren', 'zoe-s-ren'],
    ['日本', 'workspace'],
    ['---', 'workspace'],
    ['', 'workspace'],
    ['../../etc/passwd', 'etc-passwd'],
    ['<script>', 'script'],
    [`${'a'.repeat(47)} b`, 'a'.repeat(47)],
    ['A'.repeat(300), 'a'.repeat(48)],
  ])('of %j is %j', (name, slug) => {
    expect(slugOf(name)).toBe(slug)
    expect(isSlug(slug)).toBe(true)
  })

  test.each(['api', 'setup', 'sign-in', 'invite', 'reference', 'r', 'w', 'task', 'errors', 'health', '_next'])(
    'is never %s, which is a place of the dashboard',
    (word) => {
      const slug = firstOf(word) ?? ''
      expect(slug).not.toBe(word)
      expect([isSlug(word), isSlug(slug)]).toEqual([false, true])
    },
  )

  test('never has another format', () => {
    for (const text of ['', 'A', 'a b', 'a/b', '-a', 'a-', 'a--b', 'é', 'a\n', 'x'.repeat(49)])
      expect(isSlug(text)).toBe(false)
  })
})

describe('tenants with the same name', () => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(() => database.close())

  test('get a number, even when they are created at once', async () => {
    const base = await newTenant(database)
    const make = (name: string) => createTenant({ ...base, tenantId: newId('ten') }, { name })
    const made = await Promise.all(Array.from({ length: 4 }, () => make('Acme')))
    expect(made.map(({ slug }) => slug).sort()).toEqual(['acme', 'acme-2', 'acme-3', 'acme-4'])
    const long = 'x'.repeat(60)
    expect((await make(long)).slug).toBe('x'.repeat(48))
    expect((await make(long)).slug).toBe(`${'x'.repeat(46)}-2`)
    const [row] = await database.db.select().from(tenants).where(eq(tenants.slug, 'acme-3'))
    expect(row?.name).toBe('Acme')
  })
})
