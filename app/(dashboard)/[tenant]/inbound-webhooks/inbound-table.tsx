'use client'
import { UnstyledButton } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CirclePause, FlaskConical, KeyRound, PencilLine, Play, Trash2 } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import { notifyError } from '@/app/_ui/notify'
import { RowAction, RowMenu } from '@/app/_ui/row-menu'
import { StatusPill } from '@/app/_ui/status-pill'
import { TableHead } from '@/app/_ui/table-head'
import { Time } from '@/app/_ui/time'
import type { InboundItem } from '@/server/views/inbound/browse'
import { DELIVERIES } from '../settings/deliveries-id'
import styles from '../settings/settings.module.css'
import { useTenant } from '../tenant-context'
import { Address } from './address'
import { OutcomePill } from './outcome-pill'
import { SCHEME_LABELS } from './schemes'

type OnOpen = (dialog: 'edit' | 'try' | 'secret' | 'delete', webhook: InboundItem) => void

interface Props {
  webhooks: InboundItem[]
  chosen: string | null
  onChoose: (id: string) => void
  onOpen: OnOpen
}

export function InboundTable({ webhooks, chosen, onChoose, onOpen }: Props) {
  const { path, may } = useTenant()
  const allowed = may('workflow:publish')
  return (
    <table className={styles.table}>
      <TableHead columns={['Inbound webhook', 'Status', 'Signature', 'Last delivery']} />
      <tbody>
        {webhooks.map((webhook) => (
          <tr key={webhook.id} data-chosen={webhook.id === chosen || undefined}>
            <td>
              <div className={styles.stack}>
                {allowed ? (
                  <UnstyledButton
                    className={`${styles.strong} ${styles.wrap}`}
                    aria-expanded={webhook.id === chosen}
                    aria-controls={webhook.id === chosen ? DELIVERIES : undefined}
                    onClick={() => onChoose(webhook.id === chosen ? '' : webhook.id)}
                  >
                    {webhook.name}
                  </UnstyledButton>
                ) : (
                  <span className={styles.strong}>{webhook.name}</span>
                )}
                <Link href={path(`/workflows/${webhook.workflowId}`)}>{webhook.workflowName}</Link>
                {webhook.path && <Address path={webhook.path} />}
              </div>
            </td>
            <td>
              <div className={styles.stack}>
                <StatusPill
                  status={webhook.enabled ? 'enabled' : 'paused'}
                  label={webhook.enabled ? 'Active' : 'Paused'}
                />
                {webhook.archived && <span className={styles.bad}>Its workflow is archived</span>}
              </div>
            </td>
            <td>
              <div className={styles.stack}>
                <span className={`${styles.label} ${styles.quiet}`}>Signature</span>
                <span className={styles.brief}>{SCHEME_LABELS[webhook.scheme]}</span>
                {webhook.scheme === 'none' && (
                  <span className={styles.bad}>Anybody who knows the address can start runs</span>
                )}
                {webhook.scheme !== 'none' && webhook.secrets.length === 0 && (
                  <span className={styles.bad}>Its secret is missing</span>
                )}
              </div>
            </td>
            <td>
              <div className={styles.stack}>
                <span className={`${styles.label} ${styles.quiet}`}>Last delivery</span>
                <Last webhook={webhook} />
              </div>
            </td>
            <td>{allowed && <InboundMenu webhook={webhook} onOpen={onOpen} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Last({ webhook: { last, refused } }: { webhook: InboundItem }) {
  const { path } = useTenant()
  return (
    <>
      {last ? (
        <>
          <OutcomePill status={last.status} />
          <Time at={last.createdAt} />
          {last.runId && <Link href={path(`/runs/${last.runId}`)}>Its run</Link>}
        </>
      ) : (
        <span className={styles.quiet}>None yet</span>
      )}
      {refused && (
        <span className={styles.bad}>
          Not accepted <Time at={refused.at} />: {refused.reason}
        </span>
      )}
    </>
  )
}

function InboundMenu({ webhook, onOpen }: { webhook: InboundItem; onOpen: OnOpen }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { id, workflowId, name, enabled, scheme, secrets } = webhook
  const update = useMutation(
    trpc.inbound.update.mutationOptions({
      onError: (error) => notifyError(error, `${name} was not changed`),
      onSettled: () => queries.invalidateQueries(trpc.inbound.pathFilter()),
    }),
  )
  return (
    <RowMenu of={name}>
      <RowAction icon={FlaskConical} onClick={() => onOpen('try', webhook)}>
        Try a delivery
      </RowAction>
      <RowAction icon={PencilLine} onClick={() => onOpen('edit', webhook)}>
        Edit
      </RowAction>
      {scheme !== 'none' && (
        <RowAction icon={KeyRound} onClick={() => onOpen('secret', webhook)}>
          {secrets.length > 0 ? 'Rotate secret' : 'Set secret'}
        </RowAction>
      )}
      <RowAction
        icon={enabled ? CirclePause : Play}
        onClick={() => update.mutate({ workflowId, inboundId: id, body: { enabled: !enabled } })}
      >
        {enabled ? 'Pause' : 'Resume'}
      </RowAction>
      <RowAction icon={Trash2} destructive onClick={() => onOpen('delete', webhook)}>
        Delete
      </RowAction>
    </RowMenu>
  )
}
