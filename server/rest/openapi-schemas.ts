import { z } from 'zod'
import { AGENT_TEXTS } from '../agents/openapi'
import * as agents from '../agents/openapi-answers'
import { CreateAgent, UpdateAgent } from '../agents/schema'
import { UiMessage, UiPart } from '../agents/ui-chat'
import { AS_CODE_TEXTS } from '../as-code/openapi'
import * as asCode from '../as-code/openapi-answers'
import {
  ApplyDefinitions,
  DefinedAgent,
  DefinedInbound,
  DefinedSchedule,
  DefinedTool,
  DefinedWorkflow,
  DiffDefinitions,
} from '../as-code/schema'
import { AuditPage } from '../audit-log/openapi-answers'
import { CreateKey } from '../credentials/api-keys/create'
import { RotateKey } from '../credentials/api-keys/rotate'
import { KEY_TEXTS } from '../credentials/openapi'
import * as credentials from '../credentials/openapi-answers'
import { SIGNING_SECRET_TEXTS } from '../credentials/openapi-secrets'
import { CreateSecret } from '../credentials/signing-secrets/create'
import { NewLimits } from '../credentials/signing-secrets/limits'
import { RotateSecret } from '../credentials/signing-secrets/rotate'
import { Edge, Field, Step } from '../definition/schema'
import { EVENT_TEXTS } from '../events/openapi'
import * as events from '../events/openapi-answers'
import { PostEvent } from '../events/schema'
import { INBOUND_TEXTS } from '../inbound/openapi'
import * as inbound from '../inbound/openapi-answers'
import { CreateInbound, RotateInbound, TryInbound, UpdateInbound } from '../inbound/schema'
import { LINK_TEXTS } from '../links/openapi'
import * as links from '../links/openapi-answers'
import { CreateTaskLink } from '../links/schema'
import { MCP_TEXTS } from '../mcp/openapi'
import { McpMessage, McpReply } from '../mcp/schema'
import { Invite } from '../members/invitations/create'
import * as members from '../members/openapi'
import { ModelConfig } from '../models/schema'
import { ErrorAnswer } from '../openapi/errors'
import { describeFields, OPTIONS, plainSchema, tidy } from '../openapi/schema'
import type { Schema, Texts } from '../openapi/types'
import { RUN_TEXTS } from '../runs/openapi'
import * as runs from '../runs/openapi-answers'
import { StartBody } from '../runs/openapi-start'
import { RerunBody } from '../runs/rerun'
import { ResumeRun, StopRun } from '../runs/schema'
import { SCHEDULE_TEXTS } from '../schedules/openapi'
import * as schedules from '../schedules/openapi-answers'
import { CreateSchedule, UpdateSchedule } from '../schedules/schema'
import { STEP_TEXTS, stepSchemas } from '../steps/openapi'
import { McpServerConfig } from '../tools/kinds/mcp-config'
import { TOOL_TEXTS } from '../tools/openapi'
import * as tools from '../tools/openapi-answers'
import { CreateTool, InvokeTool, ToolConfig, UpdateTool } from '../tools/schema'
import * as vault from '../vault/openapi'
import { SetSecret } from '../vault/schema'
import { WEBHOOK_TEXTS } from '../webhooks/openapi'
import * as webhooks from '../webhooks/openapi-answers'
import { CreateWebhook, RotateWebhook, UpdateWebhook } from '../webhooks/schema'
import { WORKFLOW_TEXTS } from '../workflows/openapi'
import * as workflows from '../workflows/openapi-answers'
import { CreateWorkflow, SimulateWorkflow, UpdateWorkflow } from '../workflows/schema'
import { Health, OpenApi } from './openapi-service'

// The choices of a union have names too: generators make a type of each, and tell them apart by a field that they share.
const [inputsAnswer, actionAnswer] = ResumeRun.options
const [inputsPause, actionPause] = runs.PauseDescriptor.options
const [scriptTool, httpTool, mcpTool] = ToolConfig.options
const [toolSuccess, toolFailure] = tools.ToolResult.options
const [remoteList, remoteFailure] = tools.RemoteTools.options

/** Schemas that get a name in the document; all others are written inline. */
const NAMED: Record<string, z.ZodType> = {
  StartBody,
  ResumeRun,
  CollectInputsAnswer: inputsAnswer,
  RequestUserActionAnswer: actionAnswer,
  StopRun,
  RerunRun: RerunBody,
  CreateWorkflow,
  UpdateWorkflow,
  SimulateWorkflow,
  InvokeTool,
  Field,
  Step,
  Edge,
  Run: runs.Run,
  StepRecord: runs.StepRecord,
  PauseDescriptor: runs.PauseDescriptor,
  CollectInputsPause: inputsPause,
  RequestUserActionPause: actionPause,
  RunEvent: runs.RunEvent,
  RunChanged: runs.RunChanged,
  StepChanged: runs.StepChanged,
  RunEnded: runs.RunEnded,
  RunList: runs.RunList,
  RunHistory: runs.History,
  StartedRun: runs.StartedRun,
  ResumedRun: runs.ResumedRun,
  RepeatedRun: runs.RepeatedRun,
  StoppedRun: runs.StoppedRun,
  CreateTaskLink,
  TaskLink: links.TaskLink,
  CreatedTaskLink: links.CreatedTaskLink,
  InputSchema: workflows.InputSchema,
  WorkflowItem: workflows.WorkflowItem,
  Workflow: workflows.Workflow,
  PublishedWorkflow: workflows.PublishedWorkflow,
  Simulation: workflows.Simulation,
  Problem: workflows.Problem,
  VersionItem: workflows.VersionItem,
  Version: workflows.Version,
  DeletedWorkflow: workflows.DeletedWorkflow,
  InvokeAgent: agents.InvokeAgentBody,
  CreateAgent,
  UpdateAgent,
  ModelConfig,
  AgentItem: agents.AgentItem,
  Agent: agents.Agent,
  AgentVersionItem: agents.AgentVersionItem,
  AgentVersion: agents.AgentVersion,
  AgentSchema: agents.AgentSchema,
  AgentAnswer: agents.AgentAnswer,
  AnyChat: agents.AnyChatBody,
  Chat: agents.ChatBody,
  UiChat: agents.UiChatBody,
  UiMessage,
  UiPart,
  ChatAnswer: agents.ChatAnswer,
  ChatEvent: agents.ChatEvent,
  MessageDelta: agents.MessageDelta,
  ToolCalled: agents.ToolCalled,
  ToolReturned: agents.ToolReturned,
  HandedOver: agents.HandedOver,
  MessageDone: agents.MessageDone,
  ChatFailed: agents.ChatFailed,
  ThreadList: agents.ThreadList,
  Thread: agents.Thread,
  ThreadTurn: agents.ThreadTurn,
  ToolResult: tools.ToolResult,
  ToolSuccess: toolSuccess,
  ToolFailure: toolFailure,
  CreateTool,
  UpdateTool,
  ToolKindConfig: ToolConfig,
  ScriptToolConfig: scriptTool,
  HttpToolConfig: httpTool,
  McpToolConfig: mcpTool,
  McpServer: McpServerConfig,
  ToolItem: tools.ToolItem,
  Tool: tools.Tool,
  ToolVersionItem: tools.ToolVersionItem,
  ToolVersion: tools.ToolVersion,
  RemoteTools: tools.RemoteTools,
  RemoteToolList: remoteList,
  RemoteToolsFailure: remoteFailure,
  DefinedWorkflow,
  DefinedAgent,
  DefinedTool,
  DefinedSchedule,
  DefinedInbound,
  Definitions: asCode.Definitions,
  ApplyDefinitions,
  AppliedDefinitions: asCode.AppliedDefinitions,
  DiffDefinitions,
  DefinitionsDiff: asCode.DefinitionsDiff,
  CreateSchedule,
  UpdateSchedule,
  Schedule: schedules.Schedule,
  WholeSchedule: schedules.WholeSchedule,
  CreateInbound,
  UpdateInbound,
  RotateInbound,
  TryInbound,
  InboundWebhook: inbound.InboundWebhook,
  CreatedInbound: inbound.CreatedInbound,
  InboundDelivery: inbound.InboundDelivery,
  WholeInboundDelivery: inbound.WholeInboundDelivery,
  TriedInbound: inbound.TriedInbound,
  ReceivedDelivery: inbound.ReceivedDelivery,
  PostEvent,
  PostedEvent: events.PostedEvent,
  CreateWebhook,
  UpdateWebhook,
  RotateWebhook,
  WebhookEndpoint: webhooks.WebhookEndpoint,
  CreatedWebhook: webhooks.CreatedWebhook,
  WebhookDelivery: webhooks.WebhookDelivery,
  WholeWebhookDelivery: webhooks.WholeDelivery,
  Member: members.Member,
  ChangeMember: members.ChangeMember,
  Invite,
  Invitation: members.Invitation,
  CreatedInvitation: members.CreatedInvitation,
  SetSecret,
  BindHosts: vault.BindHosts,
  VaultSecret: vault.VaultSecret,
  CreateKey,
  RotateKey,
  ApiKeyItem: credentials.ApiKeyItem,
  CreatedKey: credentials.CreatedKey,
  RotatedKey: credentials.RotatedKey,
  CreateSigningSecret: CreateSecret,
  LimitSigningSecret: NewLimits,
  RotateSigningSecret: RotateSecret,
  SigningSecretItem: credentials.SigningSecretItem,
  CreatedSigningSecret: credentials.CreatedSecret,
  RotatedSigningSecret: credentials.RotatedSecret,
  AuditPage,
  McpMessage,
  McpReply,
  Health,
  OpenApi,
  Error: ErrorAnswer,
}

const registry = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id })

const TEXTS: Texts = {
  ...RUN_TEXTS,
  ...LINK_TEXTS,
  ...WORKFLOW_TEXTS,
  ...AGENT_TEXTS,
  ...TOOL_TEXTS,
  ...AS_CODE_TEXTS,
  ...STEP_TEXTS,
  ...EVENT_TEXTS,
  ...WEBHOOK_TEXTS,
  ...SCHEDULE_TEXTS,
  ...INBOUND_TEXTS,
  ...MCP_TEXTS,
  ...KEY_TEXTS,
  ...SIGNING_SECRET_TEXTS,
  ...members.MEMBER_TEXTS,
  ...vault.VAULT_TEXTS,
}

/** All named schemas of the document, generated from those the verbs parse with. */
export function componentSchemas(): Record<string, Schema> {
  const { schemas } = z.toJSONSchema(registry, { ...OPTIONS, uri: (id) => `#/components/schemas/${id}` })
  const named = Object.entries(schemas)
    .filter(([id]) => Object.hasOwn(NAMED, id))
    .map(([id, schema]) => [id, tidy(schema as Schema)] as const)
  const components = Object.fromEntries([...named, ...stepSchemas()])
  nameItems(components)
  for (const [id, texts] of Object.entries(TEXTS)) {
    const schema = components[id] ?? {}
    for (const choice of schema.oneOf ?? [schema]) describeFields(referred(components, choice), texts)
  }
  for (const schema of Object.values(components)) {
    const discriminator = discriminatorOf(schema, components)
    if (discriminator) schema.discriminator = discriminator
  }
  return withKinds(components)
}

/** Says which schemas a step and a tool's configuration may have, although a draft need not match any of them yet. */
function withKinds(components: Record<string, Schema>): Record<string, Schema> {
  const { Step: DraftStep = {}, CreateTool, UpdateTool } = components
  const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  for (const tool of [CreateTool, UpdateTool]) {
    const { description = '', ...config } = tool?.properties?.config ?? {}
    if (tool?.properties) tool.properties.config = { description, anyOf: [refer('ToolKindConfig'), config] }
  }
  return { ...components, DraftStep, Step: { anyOf: [...stepSchemas().map(([name]) => name), 'DraftStep'].map(refer) } }
}

/** What the items of lists are called, and the lists that have them: generators name a type after its schema. */
const ITEMS: Record<string, readonly string[]> = {
  RunItem: ['RunList.runs'],
  StepAttempt: ['StepRecord.attempts'],
  ShownValue: ['CollectInputsPause.show', 'RequestUserActionPause.show'],
  PauseAction: ['RequestUserActionPause.actions'],
  PauseVote: ['RequestUserActionPause.votes'],
  SimulatedExit: ['Simulation.exits'],
  SimulatedFailure: ['Simulation.failures'],
  SimulatedPath: ['Simulation.paths'],
  AgentTool: ['Agent.tools', 'AgentVersion.tools'],
  AgentHandoff: ['Agent.handoffs', 'AgentVersion.handoffs'],
  ThreadItem: ['ThreadList.threads'],
  ThreadToolCall: ['ThreadTurn.toolCalls'],
  LogLine: ['ToolSuccess.debug.logs', 'ToolFailure.debug.logs'],
  RemoteTool: ['RemoteToolList.data.tools'],
  AppliedChange: ['AppliedDefinitions.changes'],
  DefinitionWarning: ['AppliedDefinitions.warnings', 'DefinitionsDiff.warnings'],
  DefinitionChange: ['DefinitionsDiff.changes'],
  DefinitionRefusal: ['DefinitionsDiff.drift', 'DefinitionsDiff.problems'],
  ScheduleTick: ['WholeSchedule.ticks'],
  InboundSecret: ['InboundWebhook.secrets', 'CreatedInbound.secrets'],
  InboundProblem: ['TriedInbound.problems'],
  WebhookSecret: ['WebhookEndpoint.secrets', 'CreatedWebhook.secrets'],
  DeliveryAttempt: ['WebhookDelivery.attempts', 'WholeWebhookDelivery.attempts'],
  AuditEntry: ['AuditPage.entries'],
  ErrorDetail: ['Error.error.details'],
  ChatErrorDetail: ['ChatFailed.data.details'],
  ShownField: ['CollectInputsStep.show', 'RequestUserActionStep.show'],
  UserAction: ['RequestUserActionStep.actions'],
  UiMessage: ['UiChat.messages'],
  UiMessagePart: ['UiMessage.parts'],
  Branch: ['ParallelStep.branches'],
  Case: ['SwitchStep.cases'],
}

/** Moves the schemas of lists' items that are written where they are used into `components`. */
function nameItems(components: Record<string, Schema>): void {
  for (const [name, places] of Object.entries(ITEMS)) {
    for (const place of places) {
      const [id = '', ...fields] = place.split('.')
      const list = fields.reduce<Schema | undefined>((at, field) => at?.properties?.[field], components[id])
      if (!list?.items) throw new Error(`${place} is not a list`)
      components[name] ??= list.items
      list.items = { $ref: `#/components/schemas/${name}` }
    }
  }
}

/** The schema that another one refers to, or itself. */
function referred(components: Record<string, Schema>, schema: Schema): Schema {
  return components[schema.$ref?.split('/').at(-1) ?? ''] ?? schema
}

/** The field that tells the choices of a union apart: one text in each. */
function discriminatorOf({ oneOf = [] }: Schema, components: Record<string, Schema>): Schema['discriminator'] {
  const [first] = oneOf
  if (!first || oneOf.some(({ $ref }) => $ref === undefined)) return undefined
  for (const propertyName of Object.keys(referred(components, first).properties ?? {})) {
    const mapping = oneOf.flatMap((choice) => {
      const value = referred(components, choice).properties?.[propertyName]?.const
      return typeof value === 'string' ? [[value, choice.$ref ?? ''] as const] : []
    })
    if (mapping.length === oneOf.length) return { propertyName, mapping: Object.fromEntries(mapping) }
  }
  return undefined
}

/** A body's schema: a reference if it has a name. */
export function schemaOf(schema: z.core.$ZodType): Schema {
  const id = registry.get(schema)?.id
  if (id !== undefined) return { $ref: `#/components/schemas/${id}` }
  if (schema instanceof z.ZodArray) return { type: 'array', items: schemaOf(schema.element) }
  return plainSchema(schema)
}
