'use client'
import { Button, Checkbox, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { underField } from '@/app/_ui/sentence'
import { WEBHOOK_EVENTS, type WebhookFormat } from '@/server/definition/webhook'
import type { WebhookEndpoint } from '@/server/webhooks/present'
import { calledOf } from './called'
import { EVENT_WORDS } from './event-words'

const FORMATS: { value: WebhookFormat; label: string }[] = [
  { value: 'standard', label: 'Signed JSON, for a service' },
  { value: 'slack', label: 'Slack, or a chat like it' },
]
/** An assigned task is also a waiting run. */
const USUAL = WEBHOOK_EVENTS.filter((event) => event !== 'run.started' && event !== 'task.assigned')

export function WebhookDialog(props: {
  webhook: WebhookEndpoint | null
  onClose: () => void
  onCreated: (made: Pick<WebhookEndpoint, 'url' | 'description'> & { secret: string }) => void
}) {
  const { webhook, onClose, onCreated } = props
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [description, setDescription] = useState(webhook?.description ?? '')
  const [format, setFormat] = useState<WebhookFormat>(webhook?.format ?? 'standard')
  const [events, setEvents] = useState<string[]>(webhook?.events ?? USUAL)
  const changed = () => queries.invalidateQueries(trpc.webhooks.pathFilter())
  const create = useMutation(
    trpc.webhooks.create.mutationOptions({
      onSuccess: async (made) => {
        await changed()
        // A chat does not check signatures.
        if (made.format === 'slack') onClose()
        else onCreated(made)
      },
    }),
  )
  const update = useMutation(
    trpc.webhooks.update.mutationOptions({
      onSuccess: async () => {
        await changed()
        onClose()
      },
    }),
  )
  const { error, isPending } = webhook ? update : create
  const details = error ? errorOf(error).details : []
  const problem = (path: string) => details.find((detail) => detail.path === path)?.message
  function submit(event: FormEvent) {
    event.preventDefault()
    const body = { url: url.trim(), description, events, format }
    if (webhook) update.mutate({ id: webhook.id, body })
    else create.mutate(body)
  }
  return (
    <Dialog onClose={onClose} title={webhook ? `Edit “${calledOf(webhook)}”` : 'New webhook'}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Address"
            description={format === 'slack' ? 'An incoming webhook of the chat' : 'Where messages are posted'}
            placeholder={format === 'slack' ? 'https://hooks.slack.com/services/…' : 'https://example.com/hooks'}
            withAsterisk
            autoComplete="off"
            error={problem('url') && `The URL ${problem('url')}`}
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            data-autofocus
          />
          <NativeSelect
            label="Format"
            data={FORMATS}
            value={format}
            onChange={(event) => setFormat(event.currentTarget.value as WebhookFormat)}
          />
          <TextInput
            label="Description"
            placeholder="Order service"
            maxLength={500}
            autoComplete="off"
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
          <Checkbox.Group
            label="Events"
            value={events}
            onChange={setEvents}
            error={problem('events') && underField(problem('events') ?? '')}
          >
            <Stack gap="xs" mt="xs">
              {WEBHOOK_EVENTS.map((event) => (
                <Checkbox key={event} value={event} label={EVENT_WORDS[event]} description={event} />
              ))}
            </Stack>
          </Checkbox.Group>
          {error && !problem('url') && !problem('events') && (
            <ErrorState error={error} title="The webhook was not saved" />
          )}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending} disabled={!url.trim() || events.length === 0}>
              {webhook ? 'Save' : 'Create webhook'}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
