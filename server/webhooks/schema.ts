import { z } from 'zod'
import { component } from '../definition/component'
import { unstorable } from '../definition/json'
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from '../definition/webhook'
import { neverCalled } from '../net/vet'
import { STORABLE } from '../query/storable-text'
import { wholeNumber } from '../query/values'

const Url = z
  .string()
  .max(2_000)
  .superRefine((text, check) => {
    const message =
      parsedUrl(text) === null
        ? 'must be an http or https URL without a user name, such as https://example.com/hooks'
        : neverCalled(text)
    if (message !== null) check.addIssue({ code: 'custom', message })
  })

const plainText = z
  .string()
  .trim()
  .max(500)
  .refine(...STORABLE)

const Events = z
  .array(z.enum(WEBHOOK_EVENTS))
  .min(1, 'must name at least one event')
  .transform((events) => [...new Set(events)])

const settings = {
  url: Url.describe('Where messages are posted. It must be public, or in `ALLOW_PRIVATE_HOSTS`.'),
  description: plainText.describe('For people.'),
  events: Events.describe('Events it subscribes to.'),
  format: z
    .enum(WEBHOOK_FORMATS)
    .describe(
      '`standard` for services; `slack` for an incoming webhook of Slack, or of another chat that takes the same.',
    ),
}

export const CreateWebhook = component('CreateWebhook', {
  ...settings,
  description: settings.description.default(''),
  format: settings.format.default('standard'),
})

export const UpdateWebhook = component('UpdateWebhook', {
  ...z.object(settings).partial().shape,
  enabled: z.boolean().optional().describe('Whether it gets messages.'),
})

export const RotateWebhook = component('RotateWebhook', {
  /** How long the old secret also signs. */
  graceHours: z
    .number()
    .min(0)
    .max(720)
    .default(24)
    .describe('How long the old secret signs along with the new one; 0 ends it at once.'),
})

export const ListDeliveries = z.object({
  status: z.enum(['pending', 'delivered', 'failed']).optional().describe('Only deliveries with this status.'),
  limit: wholeNumber(1, 200).optional().describe('The maximum to return, 50 by default.'),
  offset: wholeNumber(0, 999_999_999).optional().describe('How many to skip.'),
})

function parsedUrl(text: string): URL | null {
  if (!URL.canParse(text) || unstorable(text) !== null) return null
  const url = new URL(text)
  const plain = url.username === '' && url.password === ''
  return plain && (url.protocol === 'https:' || url.protocol === 'http:') ? url : null
}
