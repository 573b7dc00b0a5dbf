import { z } from 'zod'
import { AnyJson } from '../../definition/any-json'
import { component } from '../../definition/component'
import { life } from '../schema'

const MAX_LABEL = 100

/** The maximum to count of a link's runs. */
export const MAX_STARTS = 10_000

export const CreateStartLink = component('CreateStartLink', {
  label: z
    .string()
    .trim()
    .min(1)
    .max(MAX_LABEL)
    .optional()
    .describe('What it is for, such as where it is published. People with the link do not see it.'),
  expiresIn: life({ longest: 366, usual: 'P90D' }).describe(
    'How long it works, as an ISO 8601 duration from `PT1M` to `P366D`.',
  ),
})
export type CreateStartLink = z.input<typeof CreateStartLink>

/** The input from a link's page. */
export const StartByLink = z.object({
  token: z.string().max(4_000),
  /** Chosen by the page for each form that it shows: a form starts one run, however often it is sent. */
  formId: z.string().regex(/^[\w-]{7,64}$/, 'is not the id of a form'),
  data: z.record(z.string(), AnyJson),
  /** Checked with the start. */
  files: z.unknown().optional(),
})
export type StartByLink = z.input<typeof StartByLink>

/** Replaces a large form whose link was not open, so that nobody reads the form. */
export const UnreadForm = z.strictObject({ token: StartByLink.shape.token, unread: z.literal(true) })
export type UnreadForm = z.input<typeof UnreadForm>
