'use client'
import { Button, Skeleton } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyError } from '@/app/_ui/notify'
import { TableHead } from '@/app/_ui/table-head'
import { Time } from '@/app/_ui/time'
import type { OneInbound } from '@/server/inbound/find'
import type { BrowsedInboundDelivery } from '@/server/views/deliveries'
import type { InboundItem } from '@/server/views/inbound/browse'
import { RunLink } from '../run-link'
import { DELIVERIES } from '../settings/deliveries-id'
import { DeliveryHead } from '../settings/delivery-head'
import styles from '../settings/settings.module.css'
import { ShowButton } from '../settings/show-button'
import { OUTCOMES, type Outcome, OutcomePill } from './outcome-pill'
import { reasonWords } from './reason-words'

/** An inbound webhook's deliveries, newest first. */
export function DeliveryList({ webhook, onClose }: { webhook: InboundItem; onClose: () => void }) {
  const trpc = useTRPC()
  const one = { workflowId: webhook.workflowId, inboundId: webhook.id }
  const [status, setStatus] = useState<Outcome | ''>('')
  const list = useQuery({
    ...trpc.inbound.deliveries.queryOptions({ ...one, ...(status && { status }) }),
    refetchInterval: 3_000,
    placeholderData: keepPreviousData,
  })
  return (
    <section className={styles.section} id={DELIVERIES} aria-labelledby={`${DELIVERIES}-title`}>
      <DeliveryHead called={webhook.name} statuses={OUTCOMES} status={status} onStatus={setStatus} onClose={onClose} />
      {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Skeleton height={120} radius="md" />}
      {list.data?.items.length === 0 && (
        <p>
          {status ? `None is “${OUTCOMES[status]}” now.` : 'Nothing has arrived yet. Give its address to the sender.'}
        </p>
      )}
      {list.data && list.data.items.length > 0 && (
        <table className={styles.table}>
          <TableHead columns={['Received', 'Outcome', 'Contents']} />
          <tbody>
            {list.data.items.map((delivery) => (
              <Delivery key={delivery.id} one={one} delivery={delivery} />
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

function Delivery({ one, delivery }: { one: OneInbound; delivery: BrowsedInboundDelivery }) {
  const [open, setOpen] = useState(false)
  return (
    <tr>
      <td>
        <div className={styles.stack}>
          <Time at={delivery.createdAt} />
          {delivery.replayOf && <span className={styles.quiet}>Redelivered</span>}
        </div>
      </td>
      <td>
        <div className={styles.stack}>
          <OutcomePill status={delivery.status} />
          {delivery.runId && <RunLink runId={delivery.runId} run={delivery.run} />}
          {delivery.error && (
            <span className={`${styles.wrap} ${delivery.status === 'filtered' ? styles.quiet : styles.bad}`}>
              {reasonWords(delivery.error)}
            </span>
          )}
        </div>
      </td>
      <td>
        <ShowButton open={open} onChange={setOpen} />
        {open && <Contents one={one} deliveryId={delivery.id} />}
      </td>
      <td className={styles.actions}>
        <Redeliver one={one} deliveryId={delivery.id} />
      </td>
    </tr>
  )
}

function Contents({ one, deliveryId }: { one: OneInbound; deliveryId: string }) {
  const trpc = useTRPC()
  const { data, error } = useQuery(trpc.inbound.delivery.queryOptions({ ...one, deliveryId }))
  if (error) return <ErrorState error={error} />
  if (!data) return <Skeleton height={60} radius="md" />
  const names = Object.entries({ ...data.query, ...data.headers })
  return (
    <>
      <CodeBlock label="body" text={data.body ?? 'Deleted with its run.'} wrap />
      {names.length > 0 && (
        <CodeBlock label="headers and query" text={names.map(([name, value]) => `${name}: ${value}`).join('\n')} wrap />
      )}
    </>
  )
}

function Redeliver({ one, deliveryId }: { one: OneInbound; deliveryId: string }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const redeliver = useMutation(
    trpc.inbound.replay.mutationOptions({
      onError: (error) => notifyError(error, 'It was not redelivered'),
      onSettled: () => queries.invalidateQueries(trpc.inbound.pathFilter()),
    }),
  )
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={redeliver.isPending}
      onClick={() => redeliver.mutate({ ...one, deliveryId })}
    >
      Redeliver
    </Button>
  )
}
