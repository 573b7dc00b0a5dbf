import type { ServiceContext } from '../context'
import type { FailureKind, Tried } from '../definition/agent'
import { ModelFailure } from './failure'
import { type Price, priceOf } from './prices'
import { type OpenModel, openModel } from './registry'
import type { ModelConfig } from './schema'

/** The model that gave an answer. */
export interface Author {
  provider: string
  modelId: string
  /** Its place among the fall-back models, from 1; null for the agent's own model. */
  fallback: number | null
}

interface Candidate {
  place: number
  config: ModelConfig
  open: OpenModel
  /** Null if it is not known, and for the scripted model in place of one without a key. */
  price: Price | null
  /** The models directly before it that have no key. */
  skipped: Tried[]
}

const USUALLY: readonly FailureKind[] = ['unavailable', 'rate-limited']

/**
 * The models that may answer a turn, in order. One that gives no answer is followed by the next, which the rest of the
 * turn stays with.
 */
export class Models {
  private at = 0
  /** The models before this one since the last answer. */
  private tried: Tried[]

  constructor(
    private readonly candidates: readonly [Candidate, ...Candidate[]],
    private readonly on: readonly FailureKind[] = USUALLY,
    /** Whether every message of the conversation is of this model, because the agent has no other. */
    readonly alone = false,
  ) {
    this.tried = candidates[0].skipped
  }

  private get current(): Candidate {
    return this.candidates[this.at] ?? this.candidates[0]
  }

  get open(): OpenModel {
    return this.current.open
  }

  get config(): ModelConfig {
    return this.current.config
  }

  get price(): Price | null {
    return this.current.price
  }

  /** Whether the agent asks for the list price of the model, named with its provider. */
  wantsListPrice(name: string): boolean {
    return this.candidates.some(
      ({ config, open }) => config.prices === 'list' && `${open.provider}/${open.modelId}` === name,
    )
  }

  get author(): Author {
    const { provider, modelId } = this.open
    return { provider, modelId, fallback: this.current.place || null }
  }

  /** Whether the next model answers if this one fails for that reason. */
  mayPassOn(kind: FailureKind | null): boolean {
    return kind !== null && this.on.includes(kind) && this.at + 1 < this.candidates.length
  }

  /** Goes on to the next model; false without one, or for a reason that does not count. */
  passOn(kind: FailureKind | null): boolean {
    const next = this.candidates[this.at + 1]
    if (kind === null || !next || !this.mayPassOn(kind)) return false
    const { provider, modelId } = this.open
    this.tried = [...this.tried, { provider, modelId, why: kind }, ...next.skipped]
    this.at += 1
    return true
  }

  /** Stays with the model that gave a recorded answer, if the agent still has it. */
  stayWith({ provider, modelId, fallback }: Author): void {
    const at = this.candidates.findIndex(
      ({ place, open }) => place === (fallback ?? 0) && open.provider === provider && open.modelId === modelId,
    )
    if (at > this.at) this.at = at
    if (at >= 0) this.tried = []
  }

  /** The models that were tried since the last answer; null without any. */
  takeTried(): Tried[] | null {
    const { tried } = this
    this.tried = []
    return tried.length > 0 ? tried : null
  }
}

/**
 * Opens an agent's models. Those without a key are left out; if none has one, the agent's own opens as without
 * fall-backs.
 */
export async function openModels(
  ctx: ServiceContext,
  choice: { model: ModelConfig; fallbacks?: ModelConfig[] | undefined; fallbackOn?: FailureKind[] | undefined },
): Promise<Models> {
  const { model, fallbacks = [], fallbackOn } = choice
  const own = async () => {
    const open = await openModel(ctx, model)
    return { place: 0, config: model, open, price: await priceAs(open, model), skipped: [] }
  }
  if (fallbacks.length === 0) return new Models([await own()], [], true)
  const opened = await Promise.all([model, ...fallbacks].map((config) => openWithKey(ctx, config)))
  const candidates: Candidate[] = []
  let skipped: Tried[] = []
  for (const [place, { config, open }] of opened.entries()) {
    const { provider, modelId } = config
    if (open === null) skipped = [...skipped, { provider, modelId, why: 'no-key' }]
    else {
      candidates.push({ place, config, open, price: await priceAs(open, config), skipped })
      skipped = []
    }
  }
  const [first, ...others] = candidates
  return new Models(first ? [first, ...others] : [await own()], fallbackOn)
}

async function priceAs(open: OpenModel, config: ModelConfig): Promise<Price | null> {
  return open.provider === config.provider ? priceOf(config) : null
}

async function openWithKey(
  ctx: ServiceContext,
  config: ModelConfig,
): Promise<{ config: ModelConfig; open: OpenModel | null }> {
  try {
    const open = await openModel(ctx, config)
    return { config, open: open.provider === config.provider ? open : null }
  } catch (err) {
    if (!(err instanceof ModelFailure)) throw err
    return { config, open: null }
  }
}
