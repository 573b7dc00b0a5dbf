import { and, asc, eq, ne, sql } from 'drizzle-orm'
import { agents, agentVersions } from '@/db/schema/agents'
import { loadAgent } from '../../agents/find'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { AppError } from '../../errors'
import { listProviders } from '../../models/list'
import type { ModelConfig } from '../../models/schema'

/** A model that can be asked for a draft: a provider's, or that of an agent with its own server or key. */
export type DraftModel = { modelId: string; label: string } & ({ provider: string } | { agentId: string })

const MAX_AGENTS = 20

/**
 * The models that the workspace can ask for a draft, the default first. The scripted model understands nothing, so it is
 * not one of them.
 */
export async function listDraftModels(ctx: ServiceContext): Promise<DraftModel[]> {
  authorize(ctx, 'workflow:write')
  const [providers, agents] = await Promise.all([listProviders(ctx), agentsWithModels(ctx)])
  const keyed = providers.filter(({ key }) => key === 'vault' || key === 'installation')
  const own = keyed.toSorted((a, b) => Number(a.key !== 'vault') - Number(b.key !== 'vault'))
  return [
    ...own.flatMap(({ provider, label, models: [modelId] }) =>
      modelId === undefined ? [] : [{ provider, modelId, label: `${label}: ${modelId}` }],
    ),
    ...agents.map(({ id, name, model: { modelId } }) => ({ agentId: id, modelId, label: `${modelId}, as ${name}` })),
  ]
}

/** Agents whose model is not reached with a provider's well-known key, one for each model. */
async function agentsWithModels({ db, tenantId }: ServiceContext) {
  const model = sql<ModelConfig>`${agentVersions.config}->'model'`
  const reached = sql`jsonb_build_array(${model}->'provider', ${model}->'modelId', ${model}->'baseUrl', ${model}->'apiKey')`
  const first = db
    .selectDistinctOn([reached], { id: agents.id, name: agents.name, model: model.as('model') })
    .from(agents)
    .innerJoin(
      agentVersions,
      and(
        eq(agentVersions.tenantId, agents.tenantId),
        eq(agentVersions.agentId, agents.id),
        eq(agentVersions.version, agents.version),
      ),
    )
    .where(
      and(
        eq(agents.tenantId, tenantId),
        ne(agents.status, 'archived'),
        sql`(${model}->>'provider' = 'openai-compatible' or ${model}->>'apiKey' is not null)`,
      ),
    )
    .orderBy(reached, asc(agents.name), asc(agents.id))
    .as('first')
  return db.select().from(first).orderBy(asc(first.name), asc(first.id)).limit(MAX_AGENTS)
}

/**
 * The model to ask. The settings of an agent are for its own answers, so only its prices stay.
 * @throws AppError AGENT_NOT_FOUND, INVALID_INPUT if no model has a key
 */
export async function modelToAsk(
  ctx: ServiceContext,
  { provider, agentId }: { provider?: string | null | undefined; agentId?: string | null | undefined },
): Promise<ModelConfig> {
  if (typeof agentId === 'string') {
    const { model } = (await loadAgent(ctx, agentId, 'latest')).config
    return { ...model, settings: {} }
  }
  const models = await listDraftModels(ctx)
  const chosen = models.find((one) => !provider || ('provider' in one && one.provider === provider))
  if (!chosen) throw noModel()
  if ('agentId' in chosen) return modelToAsk(ctx, chosen)
  return { provider: chosen.provider as ModelConfig['provider'], modelId: chosen.modelId, settings: {} }
}

export function noModel(): AppError {
  const message =
    'has no key. Add one to the vault, such as OPENAI_API_KEY, or choose an agent with a model of its own.'
  return new AppError('INVALID_INPUT', { details: [{ path: 'model', message }] })
}
