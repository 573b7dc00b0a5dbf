import type { Scheme } from '@/server/definition/inbound'

export const SCHEME_LABELS: Record<Scheme, string> = {
  github: 'GitHub',
  stripe: 'Stripe',
  slack: 'Slack',
  standard: 'Standard Webhooks',
  hmac: 'HMAC-SHA256 in a header',
  none: 'No signature',
}

/** Where each sender shows or takes its secret. */
export const SECRET_HELP: Record<Scheme, string> = {
  github: 'Leave it empty to generate one, which you then give to GitHub.',
  stripe: 'Stripe shows it once you have given it the address. Until then nothing is accepted.',
  slack: 'Slack shows it as the signing secret, under Basic Information of the app.',
  standard: 'Starts with whsec_. Leave it empty to generate one, if your sender accepts one.',
  hmac: 'Leave it empty to generate one, which you then give to the sender.',
  none: '',
}
