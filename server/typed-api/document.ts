import { allows, authorize } from '../auth/policy'
import { beyondReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { giveWay, inSlices } from '../give-way'
import { largeRead } from '../large-reads'
import type { OpenApiDocument, Schema } from '../openapi/types'
import { parseInput } from '../parse'
import { getTenant } from '../tenants/find'
import { flowing } from '../workflows/check/flow'
import { knownOutputs, pinnedOutputs } from '../workflows/check/known-outputs'
import { runTypesOf } from '../workflows/check/result-type'
import { agentParts, toolParts } from './callable'
import { nameApart, namesFor, type ToName } from './names'
import { anyOf, Blueprint, json, type Parts, ref, type TypedDocument } from './parts'
import {
  type Listed,
  listNamed,
  listPublished,
  MAX_OBJECTS,
  PAGE,
  readAgents,
  readTools,
  readWorkflows,
  type Word,
} from './read'
import { ReadTypedApi } from './schema'
import { usedOf } from './used'
import { type KnownWorkflow, workflowParts } from './workflow'

/** The maximum size of the objects of a kind in the document. */
const MAX_BYTES: Record<Word, number> = { workflow: 8_000_000, agent: 1_000_000, tool: 1_000_000 }
/** Types are inferred within this many steps and this much work. The results of further workflows are any objects. */
const MAX_STEPS = 20_000
const MAX_WORK = 300_000_000

/**
 * The workspace's own OpenAPI document: an operation for each published workflow, agent and tool in the caller's lists,
 * with the types of its input and output.
 * @param base the document of the API, whose operations these are
 * @throws AppError INVALID_INPUT for an unknown id in `only`
 */
export async function typedApi(ctx: ServiceContext, base: OpenApiDocument, query: unknown): Promise<TypedDocument> {
  authorize(ctx, 'workflow:read')
  const { only = null } = parseInput(ReadTypedApi, query)
  return largeRead(ctx, async (ctx) => {
    const listed = {
      workflow: await listPublished(ctx, 'workflow', only),
      agent: allows(ctx, 'agent:read') ? await listPublished(ctx, 'agent', only) : [],
      tool: allows(ctx, 'tool:read') ? await listPublished(ctx, 'tool', only) : [],
    }
    requireAll(only, listed)
    return new Assembly(ctx, base, listed, await namesOf(ctx)).document()
  })
}

/** The names of all objects of the workspace, by kind and id. */
async function namesOf(ctx: ServiceContext): Promise<Map<string, string>> {
  const words: readonly Word[] = ['workflow', 'agent', 'tool']
  const kinds = await Promise.all(
    words.map(async (word) => (await listNamed(ctx, word)).map((row) => ({ ...toName(word, row), at: row.createdAt }))),
  )
  return namesFor(kinds.flat().sort((a, b) => a.at.getTime() - b.at.getTime() || (a.id < b.id ? -1 : 1)))
}

function toName(word: Word, { id, name }: Listed): ToName {
  return { id: `${word}:${id}`, name, ...NAMING[word] }
}

const NAMING: Record<Word, Pick<ToName, 'fallback' | 'ending'>> = {
  workflow: { fallback: 'Workflow', ending: '' },
  agent: { fallback: 'Agent', ending: 'Agent' },
  tool: { fallback: 'Tool', ending: 'Tool' },
}

function requireAll(only: readonly string[] | null, listed: Record<Word, Listed[]>): void {
  const found = new Set(Object.values(listed).flatMap((rows) => rows.map(({ id }) => id)))
  const missing = (only ?? []).filter((id) => !found.has(id))
  if (missing.length === 0) return
  const details = missing.map((id) => ({
    path: 'only',
    message: `No published workflow, agent or tool has the id ${id}.`,
  }))
  throw new AppError('INVALID_INPUT', { details })
}

class Assembly {
  readonly #blueprint: Blueprint
  readonly #paths: TypedDocument['paths'] = {}
  readonly #schemas: Record<string, Schema> = {}
  /** The kinds of which some objects did not fit. */
  readonly #cut = new Set<Word>()
  readonly #runs: { id: string; name: string }[] = []
  readonly #answers: string[] = []
  #steps = 0
  #work = 0

  constructor(
    readonly ctx: ServiceContext,
    readonly base: OpenApiDocument,
    readonly listed: Record<Word, Listed[]>,
    readonly names: ReadonlyMap<string, string>,
  ) {
    this.#blueprint = new Blueprint(base)
  }

  async document(): Promise<TypedDocument> {
    await this.#add('workflow', readWorkflows, async (row, key, known) => {
      const { run, answers, ...parts } = workflowParts(this.#blueprint, row, key, {
        definition: known?.definition ?? null,
        expanded: known?.expanded ?? null,
        types: known ? await this.#typesOf(known.expanded) : null,
      })
      return { parts, added: () => this.#remember(row.id, run, answers) }
    })
    await this.#add('agent', readAgents, async (row, key, agent) => ({
      parts: agent ? agentParts(this.#blueprint, row, key, agent) : null,
    }))
    await this.#add('tool', readTools, async (row, key, tool) => ({
      parts: tool ? toolParts(this.#blueprint, row, key, tool) : null,
    }))
    return this.#assembled((await getTenant(this.ctx)).name)
  }

  #remember(id: string, name: string, answers: readonly string[]): void {
    this.#runs.push({ id, name })
    this.#answers.push(...answers)
  }

  async #add<T>(
    word: Word,
    read: (ctx: ServiceContext, listed: readonly Listed[]) => Promise<Map<string, T>>,
    partsOf: (row: Listed, key: string, known: T | undefined) => Promise<{ parts: Parts | null; added?: () => void }>,
  ): Promise<void> {
    let bytes = 0
    const rows = this.listed[word]
    if (rows.length > MAX_OBJECTS) this.#cut.add(word)
    for (let from = 0; from < Math.min(rows.length, MAX_OBJECTS); from += PAGE) {
      const page = rows.slice(from, Math.min(from + PAGE, MAX_OBJECTS))
      const known = await read(this.ctx, page)
      for (const row of page) {
        const named = toName(word, row)
        const key = this.names.get(named.id) ?? nameApart(named)
        const { parts, added } = await partsOf(row, key, known.get(row.id))
        if (!parts) continue
        bytes += JSON.stringify(parts).length
        if (bytes > MAX_BYTES[word]) {
          this.#cut.add(word)
          return
        }
        Object.assign(this.#paths, parts.paths)
        Object.assign(this.#schemas, parts.schemas)
        added?.()
        // A workflow of a thousand steps takes long enough on its own.
        await giveWay(this.ctx.tenantId)
      }
    }
  }

  async #typesOf(definition: NonNullable<KnownWorkflow['expanded']>): Promise<KnownWorkflow['types']> {
    this.#steps += definition.steps.length
    if (this.#steps > MAX_STEPS || this.#work > MAX_WORK) return null
    // The objects that a workflow within reach uses are within reach too.
    const outputs = pinnedOutputs(await knownOutputs(beyondReach(this.ctx), definition))
    const flow = await inSlices(this.ctx.tenantId, flowing(definition, outputs))
    const { work, ...types } = runTypesOf(definition, flow)
    this.#work += work
    return types
  }

  #assembled(name: string): TypedDocument {
    if (this.#runs.length > 0) this.#addRuns()
    const { responses, base } = this.#blueprint
    const schemas = { ...this.#blueprint.schemas, ...this.#schemas }
    const { openapi, info, servers, jsonSchemaDialect, security, tags, components } = base
    const used = usedOf({ paths: this.#paths, schemas, responses }, components)
    return {
      openapi,
      info: { ...info, title: `Millrace: ${name}`, description: this.#description(name) },
      servers,
      jsonSchemaDialect,
      security,
      tags: tags.filter((tag) => Object.values(this.#paths).some((path) => isTagged(path, tag.name))),
      paths: this.#paths,
      components: { ...components, ...used, schemas: { ...used.schemas, ...schemas }, responses },
    }
  }

  /** The operations that take the id of a run of any workflow. */
  #addRuns(): void {
    const status = '/api/workflow/status/{runId}'
    this.#paths[status] = {
      get: this.#blueprint.operation(status, 'get', {
        id: 'getRunStatus',
        path: status,
        summary: 'Get a run',
        description: 'The run of one of the workflows of this document; `workflowId` says which.',
        answers: { 200: this.#anyRun() },
      }),
    }
    if (this.#answers.length === 0) return
    const resume = '/api/workflow/resume/{runId}'
    const schema = this.#named('AnyAnswer', anyOf(this.#answers.map(ref)))
    this.#paths[resume] = {
      post: this.#blueprint.operation(resume, 'post', {
        id: 'resumeRun',
        path: resume,
        summary: 'Answer a pause',
        description:
          'The answer to the step that `stepId` names, which the run’s `pauseSignals` show. An answer that does not match the pause gets 400, and the run stays paused.',
        body: { required: true, content: json(schema) },
        answers: {},
      }),
    }
  }

  #anyRun(): Schema {
    const [only] = this.#runs
    if (this.#runs.length === 1 && only) return ref(only.name)
    const mapping = Object.fromEntries(this.#runs.map(({ id, name }) => [id, `#/components/schemas/${name}`]))
    const discriminator = { propertyName: 'workflowId', mapping }
    return this.#named('AnyRun', { oneOf: this.#runs.map(({ name }) => ref(name)), discriminator })
  }

  /** Names a union: some generators drop the choices of an inline one. */
  #named(wanted: string, schema: Schema): Schema {
    if (schema.$ref !== undefined) return schema
    const name = this.#blueprint.names.give(wanted)
    this.#schemas[name] = schema
    return ref(name)
  }

  #description(name: string): string {
    const left = [...this.#cut].map((word) => `${word}s`).join(', ')
    return [
      `The published workflows, agents and tools of ${name}, with the types of what they take and give. Everything else is in the document of the API.`,
      'The types are those of the versions that are published now. A run of another version, or one whose data an editor has changed, may differ.',
      ...(left === '' ? [] : [`Not all ${left} fit into this document: name those that you need in \`only\`.`]),
    ].join('\n\n')
  }
}

function isTagged(path: TypedDocument['paths'][string], tag: string): boolean {
  return Object.values(path).some(({ tags }) => tags.includes(tag))
}
