import { agents, agentVersions } from '@/db/schema/agents'
import type { ServiceContext } from '../context'
import type { ErrorDetail } from '../errors'
import { addressProblems, keyUse } from '../models/keys'
import type { ModelConfig } from '../models/schema'
import { parseInput } from '../parse'
import { misplacedSecrets } from '../vault/misplaced'
import type { Drafted } from '../versioned/draft'
import { sameJson } from '../versioned/same-json'
import { mergeConfig } from './config'
import { type AgentRow, type AgentVersionRow, type PresentedAgent, presentAgent } from './present'
import { type AgentConfig, MAX_NAME, UpdateAgent } from './schema'

/** Agents, for the shared lifecycle in `server/versioned`. */
export const AGENT: Drafted<AgentRow, AgentVersionRow, AgentConfig, PresentedAgent> = {
  word: 'agent',
  idPrefix: 'agt',
  table: agents,
  versions: agentVersions,
  ownerId: agentVersions.agentId,
  notFound: 'AGENT_NOT_FOUND',
  archived: 'AGENT_ARCHIVED',
  maxName: MAX_NAME,
  insertVersion: (ctx, { id, ...saved }, config) =>
    ctx.db.insert(agentVersions).values({ ...saved, agentId: id, config }),
  contentOf: (version) => version.config,
  same: sameJson,
  problems: modelProblems,
  present: presentAgent,
  withDraft: (current, draft) => mergeConfig(current, parseInput(UpdateAgent, draft)),
}

async function modelProblems(ctx: ServiceContext, { model, fallbacks = [] }: AgentConfig): Promise<ErrorDetail[]> {
  const problemsOf = async (one: ModelConfig, path: string) => [
    ...addressProblems(one, path),
    ...(await misplacedSecrets(ctx, keyUse(one, path))),
  ]
  const found = [problemsOf(model, 'model'), ...fallbacks.map((one, index) => problemsOf(one, `fallbacks[${index}]`))]
  return (await Promise.all(found)).flat()
}
