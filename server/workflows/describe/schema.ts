import { z } from 'zod'
import type { TurnMetadata } from '../../definition/agent'
import { AnyJson } from '../../definition/any-json'
import type { Definition } from '../../definition/schema'
import type { Problem } from '../check/problem'

export const MAX_TEXT = 20_000

export const DescribeWorkflow = z.object({
  /** The process, or the change to make to it. */
  text: z.string().trim().min(1, 'must not be empty').max(MAX_TEXT),
  /** The draft to change; a new one without it. */
  definition: z.record(z.string(), AnyJson).nullish(),
  /** The provider to ask; by default the first one with a key. */
  provider: z.string().max(50).nullish(),
  /** Asks the model of this agent instead. */
  agentId: z.string().max(80).nullish(),
})
export type DescribeWorkflow = z.input<typeof DescribeWorkflow>

/** The model's usage for all attempts together. */
export type DescribeMetadata = Pick<TurnMetadata, 'provider' | 'modelId' | 'usage' | 'cost'> & { attempts: number }

/** A draft that can be published, or the reasons why no answer can. */
export type Described = { metadata: DescribeMetadata } & (
  | { offered: true; definition: Definition; warnings: Problem[] }
  | { offered: false; problems: Problem[] }
)
