'use client'
import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { StatusPill } from '@/app/_ui/status-pill'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { parseKeepingDigits } from '@/server/definition/long-numbers'
import type { InboundItem } from '@/server/views/inbound/browse'
import { reasonWords } from './reason-words'

/** Shows what a sample would start, without starting or storing anything. */
export function TryDialog({ webhook, onClose }: { webhook: InboundItem; onClose: () => void }) {
  const trpc = useTRPC()
  const { workflowId, id: inboundId, last } = webhook
  const [body, setBody] = useState('{}')
  const [headers, setHeaders] = useState('{}')
  const [query, setQuery] = useState('{}')
  const latest = useQuery({
    ...trpc.inbound.delivery.queryOptions({ workflowId, inboundId, deliveryId: last?.id ?? '' }),
    enabled: last !== null,
  })
  const attempt = useMutation(trpc.inbound.try.mutationOptions())
  const sample = parsed(body)
  const parts = { headers: texts(headers), query: texts(query) }
  function useLast() {
    if (!latest.data) return
    const found = parsed(latest.data.body ?? '')
    setBody(JSON.stringify(found ? found.value : latest.data.body, null, 2))
    setHeaders(JSON.stringify(latest.data.headers, null, 2))
    setQuery(JSON.stringify(latest.data.query, null, 2))
  }
  function submit() {
    if (!sample || !parts.headers || !parts.query) return
    const { headers, query } = parts
    attempt.mutate({ workflowId, inboundId, body: { body: sample.value, headers, query } })
  }
  const fields = { autosize: true, maxRows: 12, classNames: { input: 'mono' } } as const
  const result = attempt.data
  return (
    <Dialog onClose={onClose} title={`Try a delivery to “${webhook.name}”`} size="lg">
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Stack>
          <Group justify="space-between">
            <Text size="sm">Shows what a delivery would start. No run is started.</Text>
            {last !== null && (latest.isPending || latest.data?.body) && (
              <Button variant="default" size="compact-sm" loading={latest.isPending} onClick={useLast}>
                Use the last delivery
              </Button>
            )}
          </Group>
          <Textarea
            label="Body"
            description="As JSON"
            minRows={5}
            {...fields}
            error={sample ? undefined : 'This must be JSON'}
            value={body}
            onChange={(event) => setBody(event.currentTarget.value)}
            data-autofocus
          />
          <Group grow align="start">
            <Textarea
              label="Headers"
              description="As JSON"
              {...fields}
              error={parts.headers ? undefined : 'This must be a JSON object of strings'}
              value={headers}
              onChange={(event) => setHeaders(event.currentTarget.value)}
            />
            <Textarea
              label="Query"
              description="As JSON"
              {...fields}
              error={parts.query ? undefined : 'This must be a JSON object of strings'}
              value={query}
              onChange={(event) => setQuery(event.currentTarget.value)}
            />
          </Group>
          {attempt.error && <ErrorState error={attempt.error} title="The delivery was not tried" />}
          {/* Rendered empty, so that screen readers announce its content; without a gap until then. */}
          <Stack gap="xs" aria-live="polite" {...(result ? {} : { mt: 'calc(var(--mantine-spacing-md) * -1)' })}>
            {result && (
              <>
                <div>
                  <StatusPill
                    status={result.starts ? 'completed' : result.filtered ? 'queued' : 'failed'}
                    label={result.starts ? 'Starts a run' : 'Starts no run'}
                  />
                </div>
                {result.filtered && <Text size="sm">{reasonWords(result.filtered)}</Text>}
                {result.problems.map(({ path, message }) => (
                  <Text key={path} size="sm" c="red">
                    {message}
                  </Text>
                ))}
                <CodeBlock label="START fields" text={JSON.stringify(result.data, null, 2)} />
              </>
            )}
          </Stack>
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
            <Button type="submit" loading={attempt.isPending} disabled={!sample || !parts.headers || !parts.query}>
              Try
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}

function parsed(text: string): { value: JsonValue } | null {
  try {
    return { value: parseKeepingDigits(text.trim() || '{}') }
  } catch {
    return null
  }
}

function texts(text: string): Record<string, string> | null {
  const value = parsed(text)?.value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const entries = Object.entries(value satisfies JsonObject)
  return entries.every(([, item]) => typeof item === 'string') ? (value as Record<string, string>) : null
}
