import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq } from 'drizzle-orm'
import { z } from 'zod'
import { testCases } from '@/db/schema/test-cases'
import { record } from '../audit/record'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { AnyJson } from '../definition/any-json'
import { type JsonValue, unstorable } from '../definition/json'
import type { Expected, Given } from '../definition/test-case'
import { AppError, ImpossibleState } from '../errors'
import { isId, newId } from '../ids'
import { parseInput } from '../parse'
import type { Masker } from '../vault/mask'
import { tenantMasker } from '../vault/masker'
import { paired, unmasked } from '../vault/unmask'
import { lockForDraft } from './draft'
import type { Named, Noun, One, Row, VersionRow } from './noun'
import { findRow } from './rows'

/** Per agent, tool or workflow. All of them run before it is published. */
export const MAX_CASES = 50
/** Of a case's input and expected outcome together. */
export const MAX_CHARACTERS = 200_000

export const CaseName = z.string().trim().min(1).max(200)

/** Places in a result, each with its value. */
export const ExpectedFields = z
  .array(z.object({ path: z.array(z.union([z.string(), z.number().int().min(0)])).max(100), value: AnyJson }))
  .min(1)
  .max(50)

/** The possible expectations of a result: a tool's, or a whole run's. */
export const ExpectedOfResult = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('succeeds') }),
  z.object({ kind: z.literal('fails'), code: z.string().min(1).max(100).optional() }),
  z.object({ kind: z.literal('equals'), value: AnyJson }),
  z.object({ kind: z.literal('fields'), fields: ExpectedFields }),
])

export type CaseRow = typeof testCases.$inferSelect
/** Agents, tools or workflows, whatever their content. */
type Tested = Noun<Row, VersionRow, Named, unknown>
type Of = Pick<Tested, 'word'>

export interface OneCase extends One {
  caseId: string
}

/** The content of a new case. */
export interface NewCase {
  name: string
  given: Given
  expected: Expected
  threadId?: string
}

/** The masker of a case, for nouns with more to hide than the vault's values. */
export type CaseMasks = (vault: Masker, row: CaseRow) => Masker & { hides?: ReadonlySet<string> }
export const onlyVault: CaseMasks = (vault) => vault

export function presentCase<G extends Given>(row: CaseRow, masker: Masker) {
  const { id, name, expected, threadId, createdBy, createdAt } = row
  return {
    id,
    name: masker.text(name),
    // A noun has only cases of its own kind.
    given: masker.json(row.given) as G,
    expected: masker.json(expected),
    threadId,
    createdBy,
    createdAt: createdAt.toISOString(),
  }
}
export type PresentedCase<G extends Given> = ReturnType<typeof presentCase<G>>

/**
 * The test cases of an agent, a tool or a workflow, oldest first.
 * @throws AppError the noun's `notFound`
 */
export async function listCases<G extends Given>(
  ctx: ServiceContext,
  noun: Tested,
  { id }: One,
  masks: CaseMasks = onlyVault,
): Promise<PresentedCase<G>[]> {
  await findRow(ctx, noun, id)
  const [rows, masker] = await Promise.all([readCases(ctx, noun, id), tenantMasker(ctx)])
  return rows.map((row) => presentCase<G>(row, masks(masker, row)))
}

export function readCases(ctx: ServiceContext, noun: Of, id: string): Promise<CaseRow[]> {
  return ctx.db
    .select()
    .from(testCases)
    .where(and(eq(testCases.tenantId, ctx.tenantId), eq(testCases.noun, noun.word), eq(testCases.objectId, id)))
    .orderBy(asc(testCases.id))
}

/** Counts the test cases. */
export function countCases(ctx: ServiceContext, noun: Of, id: string): Promise<number> {
  return ctx.db.$count(
    testCases,
    and(eq(testCases.tenantId, ctx.tenantId), eq(testCases.noun, noun.word), eq(testCases.objectId, id)),
  )
}

/**
 * Saves a test case.
 * @throws AppError the noun's `notFound` or `archived`; INVALID_INPUT; CONFLICT if there are too many
 */
export async function keepCase(
  ctx: ServiceContext,
  noun: Tested,
  { id }: One,
  { name, given, expected, threadId }: NewCase,
): Promise<{ id: string }> {
  refuseLarge({ given, expected })
  return withTransaction(ctx, async (tx) => {
    const row = await lockForDraft(tx, noun, id)
    if ((await countCases(tx, noun, row.id)) >= MAX_CASES)
      throw new AppError('CONFLICT', { message: `There are at most ${MAX_CASES} test cases` })
    const caseId = newId('case')
    await tx.db.insert(testCases).values({
      ...{ tenantId: tx.tenantId, noun: noun.word, objectId: row.id, id: caseId, name, given, expected },
      ...{ threadId: threadId ?? null, createdBy: tx.actor.id, createdAt: tx.now() },
    })
    await record(tx, 'testCase.created', { id: caseId, name }, { [noun.word]: row.id })
    return { id: caseId }
  })
}

/**
 * Renames a test case.
 * @throws AppError the noun's `notFound` or `archived`; NOT_FOUND; INVALID_INPUT
 */
export async function renameCase(
  ctx: ServiceContext,
  noun: Tested,
  { name: given, ...one }: OneCase & { name: unknown },
): Promise<{ id: string; name: string }> {
  const { name } = parseInput(z.object({ name: CaseName }), { name: given })
  return withTransaction(ctx, async (tx) => {
    const { row, object } = await lockCase(tx, noun, one)
    if (row.name !== name) {
      await tx.db.update(testCases).set({ name }).where(caseIs(row))
      const renamed = { name: { from: row.name, to: name } }
      await record(tx, 'testCase.renamed', { id: row.id, name }, { [noun.word]: object.id, ...renamed })
    }
    return { id: row.id, name }
  })
}

/**
 * Changes the expected outcome of a test case. A value that the caller sends as shown stays, masked or not.
 * @throws AppError the noun's `notFound` or `archived`; NOT_FOUND; INVALID_INPUT
 */
export async function changeExpected(
  ctx: ServiceContext,
  noun: Tested,
  { expected: given, ...one }: OneCase & { expected: Expected },
  masks: CaseMasks = onlyVault,
): Promise<{ id: string }> {
  const vault = await tenantMasker(ctx)
  return withTransaction(ctx, async (tx) => {
    const { row, object } = await lockCase(tx, noun, one)
    const expected = meant(given, row.expected, masks(vault, row))
    refuseLarge({ given: row.given, expected })
    if (!isDeepStrictEqual(expected, row.expected)) {
      await tx.db.update(testCases).set({ expected }).where(caseIs(row))
      await record(tx, 'testCase.updated', { id: row.id, name: row.name }, { [noun.word]: object.id })
    }
    return { id: row.id }
  })
}

/**
 * The expected outcome, with every part that equals its shown form restored to the stored one. Fields are matched by
 * path.
 */
function meant(given: Expected, stored: Expected, masker: Masker): Expected {
  if (given.kind !== 'fields' || stored.kind !== 'fields') return unmasked(given, stored, masker).value as Expected
  const at = paired(given.fields, stored.fields, (one, was) => isDeepStrictEqual(one.path, masker.json(was.path)))
  const fields = given.fields.map((field, index) => {
    const was = stored.fields[at[index] ?? -1]
    if (!was) return field
    return { path: was.path, value: unmasked(field.value, was.value, masker).value as JsonValue }
  })
  return { ...given, fields }
}

/**
 * Deletes a test case.
 * @throws AppError the noun's `notFound` or `archived`; NOT_FOUND
 */
export async function deleteCase(
  ctx: ServiceContext,
  noun: Tested,
  one: OneCase,
): Promise<{ id: string; deleted: true }> {
  return withTransaction(ctx, async (tx) => {
    const { row, object } = await lockCase(tx, noun, one)
    const [gone] = await tx.db.delete(testCases).where(caseIs(row)).returning({ id: testCases.id })
    if (!gone) throw new ImpossibleState('test-case-delete', 'a locked row was not deleted')
    await record(tx, 'testCase.deleted', row, { [noun.word]: object.id })
    return { id: row.id, deleted: true }
  })
}

async function lockCase(
  tx: TransactionContext,
  noun: Tested,
  { id, caseId }: OneCase,
): Promise<{ object: Row; row: CaseRow }> {
  const object = await lockForDraft(tx, noun, id)
  if (!isId(caseId)) throw new AppError('NOT_FOUND')
  const is = caseIs({ tenantId: tx.tenantId, noun: noun.word, objectId: object.id, id: caseId })
  const [row] = await tx.db.select().from(testCases).where(is).for('update')
  if (!row) throw new AppError('NOT_FOUND')
  return { object, row }
}

function caseIs({ tenantId, noun, objectId, id }: Pick<CaseRow, 'tenantId' | 'noun' | 'objectId' | 'id'>) {
  const { tenantId: tenant, noun: word, objectId: of, id: own } = testCases
  return and(eq(tenant, tenantId), eq(word, noun), eq(of, objectId), eq(own, id))
}

/** @throws AppError INVALID_INPUT */
function refuseLarge(kept: { given: Given; expected: Expected }): void {
  const tooLong = JSON.stringify(kept).length > MAX_CHARACTERS
  const wrong = tooLong ? { message: `A test case has at most ${MAX_CHARACTERS} characters.` } : unstorable(kept)
  if (wrong) throw new AppError('INVALID_INPUT', { details: [wrong] })
}
