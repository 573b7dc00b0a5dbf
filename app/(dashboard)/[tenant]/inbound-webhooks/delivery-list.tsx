'use client'
import { Button, Skeleton } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import Link from 'next/link'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyError } from '@/app/_ui/notify'
import { Time } from '@/app/_ui/time'
import type { OneInbound } from '@/server/inbound/find'
import type { InboundDelivery } from '@/server/inbound/present'
import type { InboundItem } from '@/server/views/inbound/browse'
import styles from '../settings/settings.module.css'
import { ShowButton } from '../settings/show-button'
import { useTenant } from '../tenant-context'
import { OutcomePill } from './outcome-pill'
import { reasonWords } from './reason-words'

/** What an inbound webhook received, newest first. */
export function DeliveryList({ webhook }: { webhook: InboundItem }) {
  const trpc = useTRPC()
  const one = { workflowId: webhook.workflowId, inboundId: webhook.id }
  const list = useQuery({ ...trpc.inbound.deliveries.queryOptions(one), refetchInterval: 3_000 })
  return (
    <section className={styles.section} aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries to {webhook.name}</h2>
      {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Skeleton height={120} radius="md" />}
      {list.data?.items.length === 0 && <p>Nothing has arrived yet. Give its address to the sender.</p>}
      {list.data && list.data.items.length > 0 && (
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Received</th>
              <th scope="col">Outcome</th>
              <th scope="col">Contents</th>
              <th scope="col">
                <span className="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
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

function Delivery({ one, delivery }: { one: OneInbound; delivery: InboundDelivery }) {
  const { path } = useTenant()
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
          {delivery.runId && <Link href={path(`/runs/${delivery.runId}`)}>{delivery.runId}</Link>}
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
