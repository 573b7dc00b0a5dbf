import { agents, agentVersions } from '@/db/schema/agents'
import { keyUse } from '../models/keys'
import { misplacedSecrets } from '../vault/misplaced'
import type { Noun } from '../versioned/noun'
import { sameJson } from '../versioned/same-json'
import { type AgentRow, type AgentVersionRow, type PresentedAgent, presentAgent } from './present'
import { type AgentConfig, MAX_NAME } from './schema'

/** Agents, for the shared lifecycle in `server/versioned`. */
export const AGENT: Noun<AgentRow, AgentVersionRow, AgentConfig, PresentedAgent> = {
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
  problems: (ctx, { model }) => misplacedSecrets(ctx, keyUse(model)),
  present: presentAgent,
}
