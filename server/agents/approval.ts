import type { ApprovalPolicy, ApprovalQuestion, CallPolicy } from '../definition/approval'
import { undecidable } from '../definition/asking'
import { parseDuration } from '../definition/duration'
import type { Effort } from '../definition/effort'
import { ExpressionFailure } from '../definition/expression/evaluate'
import { cutText, isJsonObject, type JsonObject, type JsonValue, jsonSize, own } from '../definition/json'
import { ASSIGNEE, sameAssignee } from '../definition/people'
import { withoutFields } from '../definition/sensitive'
import { type ShownValue, shownValue, TOO_LARGE } from '../definition/shown'
import {
  fillText,
  type Lookup,
  lookupIn,
  resolveTemplates,
  TemplateSyntaxError,
  TemplateTooLarge,
  UnresolvedReference,
} from '../definition/template'
import type { ToolRequest } from '../models/call'
import { withOwnNames } from '../tools/acceptable-schema'
import { evaluateText, expressionEffort } from '../tools/expression'
import { mismatches } from '../tools/json-schema'
import { REASON } from './approval-reason'
import type { AgentConfig } from './schema'
import type { AgentTool } from './toolset'
import type { ToolResult } from './turn-types'

const MAX_TITLE = 500
const MAX_WHY = 2_000
const MAX_ROWS = 30
/** A card also has the arguments themselves; `MAX_QUESTION_BYTES` limits it as a whole. */
const MAX_SHOWN_BYTES = 64 * 1024
/** Who is asked if a policy cannot say so. */
const NOBODY_KNOWN = ['role:admin']

/** Whether any call of the agent may need a decision. */
export function mayAsk({ tools, handoffs }: AgentConfig): boolean {
  return [...tools, ...handoffs].some(({ approval }) => approval !== undefined)
}

/** The call without the model's reason, which is no argument of the tool. */
export function withoutReason(call: ToolRequest, tool: AgentTool | undefined): ToolRequest {
  if (!tool?.approval || !isJsonObject(call.input) || takesReason(tool)) return call
  const { [REASON]: _reason, ...input } = call.input
  return { ...call, input }
}

/** Whether the tool has an argument of that name itself. */
function takesReason(tool: AgentTool): boolean {
  const properties = tool.kind === 'tool' ? tool.inputSchema?.properties : {}
  return isJsonObject(properties) && Object.hasOwn(properties, REASON)
}

function reasonIn({ input }: ToolRequest): string {
  const reason = isJsonObject(input) ? own(input, REASON) : undefined
  return typeof reason === 'string' ? reason.trim() : ''
}

interface Round {
  /** As the model made them. */
  calls: readonly ToolRequest[]
  /** What the model said with them. */
  text: string
}

/** What policies may use beside the arguments. */
interface Known {
  agent: string
  dataContext: JsonObject
  context: JsonObject | null
  /** The names of the arguments whose values people do not see. */
  hides: ReadonlySet<string>
}

/** What becomes of each call of an answer. Evaluated once, when the answer comes, and recorded with it. */
export function policiesOf({ calls, text }: Round, tools: ReadonlyMap<string, AgentTool>, known: Known): CallPolicy[] {
  const effort = expressionEffort()
  return calls.map((call) => {
    const tool = tools.get(call.toolName)
    const { input } = withoutReason(call, tool)
    // Such a call fails.
    if (!tool || !isJsonObject(input)) return 'refuse'
    if (tool.approval === undefined) return 'run'
    const args = ownArguments(tool, input)
    if (argumentProblem(tool, args) !== null) return 'refuse'
    const policy = new Policy(tool.approval === 'always' ? {} : tool.approval, args, known, effort)
    if (!policy.asks()) return 'run'
    return { ask: policy.question(tool, cutText(reasonIn(call) || text.trim(), MAX_WHY)) }
  })
}

/**
 * The result of a call that its policy does not allow; null if it may be made. Everything that keeps a call from being
 * made for want of a decision is decided here.
 */
export function withheld(policy: CallPolicy, tool: AgentTool, input: JsonObject): ToolResult | null {
  if (policy === 'run') return null
  const problem = policy === 'refuse' ? argumentProblem(tool, ownArguments(tool, input)) : null
  if (problem !== null) return { success: false, error: { code: 'INVALID_INPUT', message: problem } }
  const message = 'The call needs a decision, and nobody can be asked here.'
  return { success: false, error: { code: 'APPROVAL_NOT_POSSIBLE', message } }
}

/** Arguments under the names that the tool's author gave them. */
export function ownArguments(tool: AgentTool, input: JsonObject): JsonObject {
  return tool.kind === 'tool' ? withOwnNames(input, tool.names) : input
}

function argumentProblem(tool: AgentTool, args: JsonObject): string | null {
  const found = tool.kind === 'tool' && tool.inputSchema ? mismatches(tool.inputSchema, args, 'args') : []
  if (found.length === 0) return null
  return ['Invalid input', ...found.slice(0, 10).map(({ path, message }) => `${path}: ${message}`)].join('\n')
}

/** A policy with the values of a call. A part that cannot be evaluated never lets a call pass. */
class Policy {
  private readonly lookup: Lookup
  private readonly problems: string[] = []

  constructor(
    private readonly policy: ApprovalPolicy,
    private readonly args: JsonObject,
    private readonly known: Known,
    private readonly effort: Effort,
  ) {
    this.lookup = lookupIn({ args, dataContext: known.dataContext, context: known.context ?? {} })
  }

  asks(): boolean {
    const { when } = this.policy
    if (when === undefined) return true
    const value = this.attempt('The condition', () => evaluateText(when, this.lookup, this.effort))
    if (value !== null && typeof value !== 'boolean') this.problems.push('The condition did not give true or false.')
    return value !== false
  }

  question(tool: AgentTool, why: string): ApprovalQuestion {
    const { noSelfApproval, needs, onExpiry = 'reject', editable = [] } = this.policy
    const assignees = this.assignees()
    return {
      title: this.title(tool),
      show: this.show(tool),
      ...(assignees === undefined ? {} : { assignees }),
      ...(noSelfApproval ? { noSelfApproval } : {}),
      ...(needs === undefined ? {} : { needs }),
      ...this.duration('dueIn'),
      ...this.duration('expiresIn'),
      ...{ onExpiry, editable, why },
      ...(this.problems.length === 0 ? {} : { problem: this.problems.join(' ') }),
    }
  }

  private title(tool: AgentTool): string {
    const { title } = this.policy
    const filled = title === undefined ? null : this.attempt('The title', () => fillText(title, this.lookup))
    const name = tool.kind === 'tool' ? tool.title : tool.agent.name
    return cutText(filled?.trim() || `May ${this.known.agent} call ${name}?`, MAX_TITLE)
  }

  private assignees(): string[] | undefined {
    const { assignees, needs } = this.policy
    if (assignees === undefined) return undefined
    const found = this.attempt('Who may answer', () => resolveTemplates(assignees, this.lookup))
    if (found === null) return NOBODY_KNOWN
    const names = Array.isArray(found) ? found.filter((one) => typeof one === 'string' && ASSIGNEE.test(one)) : []
    const people = [...new Set(names.map((one) => sameAssignee(String(one))))]
    const impossible = undecidable(needs, people)
    const all = Array.isArray(found) && names.length === found.length && people.length > 0
    if (all && impossible === null) return people
    this.problems.push(
      `Who may answer is not a list of people, groups and roles${impossible ? ` that can decide` : ''}.`,
    )
    return NOBODY_KNOWN
  }

  private duration(field: 'dueIn' | 'expiresIn'): { dueIn?: string; expiresIn?: string } {
    const text = this.policy[field]
    const filled = text === undefined ? null : this.attempt(WHEN[field], () => fillText(text, this.lookup))
    if (filled === null) return {}
    if (parseDuration(filled) !== null) return { [field]: filled }
    this.problems.push(`${WHEN[field]} is not a duration.`)
    return {}
  }

  private show(tool: AgentTool): ShownValue[] {
    // A row says the name in its label, by which nothing is hidden later.
    const args = withoutFields(this.args, this.known.hides)
    const names = this.policy.show ?? Object.keys(args)
    const given = names.flatMap((name): [string, JsonValue][] => {
      const value = own(args, name)
      return value === undefined ? [] : [[name, value]]
    })
    const rows = given.slice(0, MAX_ROWS).map(([name, value]) => ({ label: labelOf(tool, name), value }))
    const more = Object.fromEntries(given.slice(MAX_ROWS))
    if (given.length > MAX_ROWS) rows.push({ label: 'More arguments', value: more })
    let left = MAX_SHOWN_BYTES
    return rows.map(({ label, value }) => {
      const fits = jsonSize(value) <= left
      if (fits) left -= jsonSize(value)
      return { label, value: fits ? shownValue(value) : TOO_LARGE }
    })
  }

  private attempt<T extends JsonValue>(what: string, evaluate: () => T): T | null {
    try {
      return evaluate()
    } catch (err) {
      if (!FAILURES.some((kind) => err instanceof kind)) throw err
      this.problems.push(`${what} could not be evaluated: ${err instanceof Error ? err.message : ''}.`)
      return null
    }
  }
}

const WHEN = { dueIn: 'When it is due', expiresIn: 'How long people have' }
const FAILURES = [ExpressionFailure, UnresolvedReference, TemplateSyntaxError, TemplateTooLarge]

/** The title that the tool's author gave an argument, else its name. */
function labelOf(tool: AgentTool, name: string): string {
  const properties = tool.kind === 'tool' ? tool.inputSchema?.properties : {}
  const property = isJsonObject(properties) ? own(properties, name) : undefined
  const title = isJsonObject(property) ? property.title : undefined
  return cutText(typeof title === 'string' && title.trim() !== '' ? title : name, 200)
}
