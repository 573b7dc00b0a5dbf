'use client'
import { Alert, Button, Group, Stack, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { CircleCheck, CircleHelp, CircleX } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { JsonView } from '@/app/_ui/json-view'
import type { TokenReport } from '@/server/credentials/signing-secrets/debug-token'
import styles from '../settings.module.css'
import looks from './token-debugger.module.css'

/** Shows which checks a token passes and which it fails. */
export function TokenDebugger() {
  const trpc = useTRPC()
  const [token, setToken] = useState('')
  const debug = useMutation(trpc.secrets.debug.mutationOptions())
  return (
    <section className={styles.section} aria-labelledby="debugger">
      <h2 id="debugger">Check a token</h2>
      <p>The server checks it as it would in a call. The token is not stored.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (token.trim()) debug.mutate({ token: token.trim() })
        }}
      >
        <Stack gap="sm">
          <Textarea
            label="Token"
            placeholder="eyJhbGciOiJIUzI1NiIs…"
            autosize
            minRows={3}
            maxRows={8}
            spellCheck={false}
            autoComplete="off"
            classNames={{ input: looks.token ?? '' }}
            value={token}
            onChange={(event) => {
              setToken(event.currentTarget.value)
              debug.reset()
            }}
          />
          <Group>
            <Button type="submit" variant="default" loading={debug.isPending} disabled={!token.trim()}>
              Check token
            </Button>
          </Group>
        </Stack>
      </form>
      {debug.error && <ErrorState error={debug.error} title="The token was not checked" />}
      {debug.data && <Report report={debug.data as unknown as TokenReport} />}
    </section>
  )
}

const NAMES: Record<TokenReport['checks'][number]['name'], string> = {
  form: 'Form: three parts of base64url',
  algorithm: 'Algorithm: HS256',
  kid: 'Key id: kid in the header',
  secret: 'Secret: known here and enabled',
  signature: 'Signature: made with this secret',
  aud: 'Audience: aud',
  exp: 'Lifetime: exp, at most 24 hours',
  iat: 'Issued: iat and nbf not in the future',
  sub: 'End user: sub',
  context: 'Context: a small object, or none',
}
const STATES = {
  passed: { icon: CircleCheck, text: 'passed' },
  failed: { icon: CircleX, text: 'failed' },
  unknown: { icon: CircleHelp, text: 'not checked' },
} as const

function Report({ report: { accepted, caller, checks, header, payload } }: { report: TokenReport }) {
  return (
    <div className={looks.report} role="status">
      {caller && accepted ? (
        <Alert
          color="green"
          variant="light"
          icon={<CircleCheck size={18} aria-hidden />}
          title="A call would be accepted"
        >
          As {caller.sub}, with the role {caller.role} of the secret {caller.secretName}.
          {caller.longLived && ' It is valid for more than an hour. If it is stolen, it can be used until it expires.'}
        </Alert>
      ) : (
        <Alert color="red" variant="light" icon={<CircleX size={18} aria-hidden />} title="A call would get 401">
          {checks.find(({ state }) => state === 'failed')?.message}
        </Alert>
      )}
      <ul className={looks.checks}>
        {checks.map(({ name, state }) => {
          const { icon: Icon, text } = STATES[state]
          return (
            <li key={name} className={looks[state]}>
              <Icon size={16} aria-hidden />
              <span>
                {NAMES[name]} <span className={styles.quiet}>({text})</span>
              </span>
            </li>
          )
        })}
      </ul>
      {header && <JsonView label="Header" value={{ header }} />}
      {payload && <JsonView label="Payload" value={{ payload }} openDepth={3} />}
    </div>
  )
}
