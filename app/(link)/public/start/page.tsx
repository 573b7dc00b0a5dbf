import type { Metadata } from 'next'
import { StartLink } from './start-link'

export const metadata: Metadata = {
  title: 'Form',
  description: 'A form to fill in.',
  robots: { index: false, follow: false },
}

/**
 * The form of one workflow, for anyone with its start link. As with a task link, the token stands behind the `#`, which
 * browsers never send, so opening the page starts nothing.
 */
export default function StartLinkPage() {
  return (
    <>
      <noscript>To see this form, turn on JavaScript.</noscript>
      <StartLink />
    </>
  )
}
