'use client'
import { CodeBlock } from '@/app/_ui/code-block'
import { Link } from '@/app/_ui/link'
import { curl, useOrigin } from '../_versioned/curl'
import { useTenant } from '../tenant-context'
import styles from './reference.module.css'

/** Explains the reference before an entry is chosen. */
export function Welcome() {
  const { may, path, id: tenantId } = useTenant()
  const origin = useOrigin()
  const command = curl({ origin, tenantId, path: '/api/openapi.json?workflows=published' })
  return (
    <div className={styles.welcome}>
      <h2>Choose a call</h2>
      <p>
        Each one has its parameters, its responses and an example. <strong>Try it</strong> sends it from this page with
        your own rights, so you need no key here. Press <kbd>/</kbd> to search, <kbd>J</kbd> and <kbd>K</kbd> to move,{' '}
        <kbd>Enter</kbd> to open.
      </p>
      <h2>Call it from a program</h2>
      <p>
        A program needs {may('key:manage') ? <Link href={path('/settings/api-keys')}>an API key</Link> : 'an API key'}.
        To generate a client, download the OpenAPI document, with the types of your workflows:
      </p>
      <CodeBlock label="Command" text={command} wrap />
      <p className={styles.quiet}>
        You need no workspace for the <a href="/reference">public API reference</a> and its{' '}
        <a href="/api/openapi.json">OpenAPI document</a>.
      </p>
    </div>
  )
}
