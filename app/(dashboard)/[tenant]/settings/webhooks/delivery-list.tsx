'use client'
import { Button, Skeleton } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyError } from '@/app/_ui/notify'
import { type PillStatus, StatusPill } from '@/app/_ui/status-pill'
import { TableHead } from '@/app/_ui/table-head'
import { Time, useNow } from '@/app/_ui/time'
import type { BrowsedDelivery } from '@/server/views/deliveries'
import type { WebhookDelivery, WebhookEndpoint } from '@/server/webhooks/present'
import { RunLink } from '../../run-link'
import { DELIVERIES } from '../deliveries-id'
import { DeliveryHead } from '../delivery-head'
import styles from '../settings.module.css'
import { ShowButton } from '../show-button'
import { calledOf } from './called'
import { eventOf } from './event-words'

type Status = WebhookDelivery['status']

const PILLS: Record<Status, [PillStatus, string]> = {
  pending: ['queued', 'To be sent'],
  delivered: ['completed', 'Delivered'],
  failed: ['failed', 'Given up'],
}

const LABELS: Record<Status, string> = {
  pending: PILLS.pending[1],
  delivered: PILLS.delivered[1],
  failed: PILLS.failed[1],
}

const RETRYING: [PillStatus, string] = ['queued', 'Retrying']

/** The messages sent to a webhook and its responses, newest first. */
export function DeliveryList({ webhook, onClose }: { webhook: WebhookEndpoint; onClose: () => void }) {
  const trpc = useTRPC()
  const { id } = webhook
  const [status, setStatus] = useState<Status | ''>('')
  const list = useQuery({
    ...trpc.webhooks.deliveries.queryOptions({ id, ...(status && { status }) }),
    refetchInterval: 2_000,
    placeholderData: keepPreviousData,
  })
  return (
    <section className={styles.section} id={DELIVERIES} aria-labelledby={`${DELIVERIES}-title`}>
      <DeliveryHead
        called={calledOf(webhook)}
        statuses={LABELS}
        status={status}
        onStatus={setStatus}
        onClose={onClose}
      />
      {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Skeleton height={120} radius="md" />}
      {list.data?.items.length === 0 && (
        <p>
          {status
            ? `None is “${LABELS[status]}” now.`
            : 'None of its events has happened yet. To try it, send a test from its menu.'}
        </p>
      )}
      {list.data && list.data.items.length > 0 && (
        <table className={styles.table}>
          <TableHead columns={['Event', 'Status', 'Last response']} />
          <tbody>
            {list.data.items.map((delivery) => (
              <Delivery key={delivery.id} webhookId={id} delivery={delivery} />
            ))}
          </tbody>
        </table>
      )}
      {list.data && list.data.total > list.data.items.length && (
        <p>
          The newest {list.data.items.length} of {list.data.total}. The API lists them all.
        </p>
      )}
    </section>
  )
}

function Delivery({ webhookId, delivery }: { webhookId: string; delivery: BrowsedDelivery }) {
  const [open, setOpen] = useState(false)
  const last = delivery.attempts.at(-1)
  const [status, label] = delivery.status === 'pending' && last?.error ? RETRYING : PILLS[delivery.status]
  return (
    <tr>
      <td className={styles.words}>
        <div className={styles.stack}>
          <span className={styles.strong} title={delivery.type}>
            {eventOf(delivery.type)}
          </span>
          {delivery.runId && <RunLink runId={delivery.runId} run={delivery.run} />}
          <span className={styles.quiet}>
            <Time at={delivery.createdAt} />
          </span>
        </div>
      </td>
      <td className={styles.whole}>
        <div className={styles.stack}>
          <StatusPill status={status} label={label} />
          <span className={styles.quiet}>
            {delivery.attempts.length} {delivery.attempts.length === 1 ? 'attempt' : 'attempts'}
          </span>
          {delivery.nextAttemptAt && last && <NextAttempt at={delivery.nextAttemptAt} />}
        </div>
      </td>
      <td>
        <div className={styles.stack}>
          {last ? (
            <>
              <span className={last.error ? styles.bad : undefined}>{last.error ?? `Status ${last.status}`}</span>
              <span className={styles.quiet}>
                {last.durationMs} ms, <Time at={last.at} />
              </span>
              {last.response && (
                <span className={`mono ${styles.quiet} ${styles.wrap}`}>{last.response.slice(0, 200)}</span>
              )}
            </>
          ) : (
            <span className={styles.quiet}>None yet</span>
          )}
          <ShowButton open={open} onChange={setOpen} what="body" />
          {open && <Body webhookId={webhookId} deliveryId={delivery.id} />}
        </div>
      </td>
      <td className={styles.actions}>
        <Redeliver webhookId={webhookId} deliveryId={delivery.id} />
      </td>
    </tr>
  )
}

/** A few seconds ahead count as now. */
function NextAttempt({ at }: { at: string }) {
  const now = useNow(15_000)
  return <span className={styles.quiet}>Next attempt {Date.parse(at) > now + 5_000 ? <Time at={at} /> : 'now'}</span>
}

function Body({ webhookId, deliveryId }: { webhookId: string; deliveryId: string }) {
  const trpc = useTRPC()
  const { data, error } = useQuery(trpc.webhooks.delivery.queryOptions({ id: webhookId, deliveryId }))
  if (error) return <ErrorState error={error} />
  if (!data) return <Skeleton height={60} radius="md" />
  return <CodeBlock label="body" text={data.body ?? 'The body is written at the first attempt.'} wrap />
}

function Redeliver({ webhookId, deliveryId }: { webhookId: string; deliveryId: string }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const redeliver = useMutation(
    trpc.webhooks.redeliver.mutationOptions({
      onError: (error) => notifyError(error, 'It was not sent again'),
      onSettled: () => queries.invalidateQueries(trpc.webhooks.pathFilter()),
    }),
  )
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={redeliver.isPending}
      onClick={() => redeliver.mutate({ id: webhookId, deliveryId })}
    >
      Redeliver
    </Button>
  )
}
