'use client'
import { UnstyledButton } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Ban, CircleCheck, PencilLine, RefreshCw, Send, Trash2 } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { RowAction, RowMenu } from '@/app/_ui/row-menu'
import { StatusPill } from '@/app/_ui/status-pill'
import { TableHead } from '@/app/_ui/table-head'
import { Time } from '@/app/_ui/time'
import type { WebhookEndpoint } from '@/server/webhooks/present'
import { DELIVERIES } from '../deliveries-id'
import styles from '../settings.module.css'
import { calledOf } from './called'
import { eventInList } from './event-words'

interface Props {
  webhooks: WebhookEndpoint[]
  chosen: string | null
  onChoose: (id: string) => void
  onOpen: (dialog: 'edit' | 'rotate' | 'delete', webhook: WebhookEndpoint) => void
}

export function WebhookTable({ webhooks, chosen, onChoose, onOpen }: Props) {
  return (
    <table className={styles.table}>
      <TableHead columns={['Webhook', 'Status', 'Events', 'Last delivered']} />
      <tbody>
        {webhooks.map((webhook) => (
          <tr key={webhook.id} data-chosen={webhook.id === chosen || undefined}>
            <td>
              <div className={styles.stack}>
                <UnstyledButton
                  className={`${styles.strong} ${styles.wrap}`}
                  aria-expanded={webhook.id === chosen}
                  aria-controls={webhook.id === chosen ? DELIVERIES : undefined}
                  onClick={() => onChoose(webhook.id === chosen ? '' : webhook.id)}
                >
                  {webhook.description || webhook.url}
                </UnstyledButton>
                {webhook.description && <span className={`${styles.quiet} ${styles.wrap}`}>{webhook.url}</span>}
                {webhook.format === 'slack' && <span className={styles.quiet}>As Slack messages</span>}
              </div>
            </td>
            <td>
              <div className={styles.stack}>
                <Health webhook={webhook} />
              </div>
            </td>
            <td>
              <span className={`${styles.label} ${styles.quiet}`}>Events</span>
              <span className={styles.brief}>
                {webhook.events.map((event, place) => (
                  <span key={event} title={event}>
                    {place > 0 && ', '}
                    {eventInList(event, place === 0)}
                  </span>
                ))}
              </span>
            </td>
            <td>
              <div className={styles.stack}>
                <span className={`${styles.label} ${styles.quiet}`}>Last delivered</span>
                {webhook.deliveredAt ? <Time at={webhook.deliveredAt} /> : <span className={styles.quiet}>Never</span>}
                {webhook.waiting > 0 && <span className={styles.quiet}>{webhook.waiting} waiting</span>}
              </div>
            </td>
            <td>
              <WebhookMenu webhook={webhook} onChoose={onChoose} onOpen={onOpen} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const REASONS = {
  failing: 'Every attempt failed for five days.',
  gone: 'It answered 410: gone.',
}

function Health({ webhook: { enabled, disabledReason, failingSince } }: { webhook: WebhookEndpoint }) {
  if (!enabled)
    return (
      <>
        <StatusPill status="disabled" />
        {disabledReason && <span className={styles.bad}>{REASONS[disabledReason]}</span>}
      </>
    )
  if (!failingSince) return <StatusPill status="enabled" />
  return (
    <>
      <StatusPill status="failed" label="Failing" />
      <span className={styles.quiet}>
        Since <Time at={failingSince} />
      </span>
    </>
  )
}

function WebhookMenu({ webhook, onChoose, onOpen }: { webhook: WebhookEndpoint } & Pick<Props, 'onChoose' | 'onOpen'>) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { id, enabled } = webhook
  const onSettled = () => queries.invalidateQueries(trpc.webhooks.pathFilter())
  const update = useMutation(
    trpc.webhooks.update.mutationOptions({
      onSuccess: ({ enabled }) => notifyDone(enabled ? 'The webhook gets messages again.' : 'The webhook is disabled.'),
      onError: (error) => notifyError(error, 'The webhook was not changed'),
      onSettled,
    }),
  )
  const test = useMutation(
    trpc.webhooks.test.mutationOptions({
      onSuccess: () => onChoose(id),
      onError: (error) => notifyError(error, 'The test was not sent'),
      onSettled,
    }),
  )
  return (
    <RowMenu of={calledOf(webhook)}>
      {enabled && (
        <RowAction icon={Send} onClick={() => test.mutate({ id })}>
          Send test
        </RowAction>
      )}
      <RowAction icon={PencilLine} onClick={() => onOpen('edit', webhook)}>
        Edit
      </RowAction>
      <RowAction icon={RefreshCw} onClick={() => onOpen('rotate', webhook)}>
        Rotate secret
      </RowAction>
      <RowAction icon={enabled ? Ban : CircleCheck} onClick={() => update.mutate({ id, body: { enabled: !enabled } })}>
        {enabled ? 'Disable' : 'Enable'}
      </RowAction>
      <RowAction icon={Trash2} destructive onClick={() => onOpen('delete', webhook)}>
        Delete
      </RowAction>
    </RowMenu>
  )
}
