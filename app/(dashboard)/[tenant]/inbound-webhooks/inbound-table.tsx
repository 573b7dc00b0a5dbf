'use client'
import { ActionIcon, Menu, UnstyledButton } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CirclePause, Ellipsis, FlaskConical, KeyRound, PencilLine, Play, Trash2 } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import { notifyError } from '@/app/_ui/notify'
import { StatusPill } from '@/app/_ui/status-pill'
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
      <thead>
        <tr>
          <th scope="col">Inbound webhook</th>
          <th scope="col">Status</th>
          <th scope="col">Signature</th>
          <th scope="col">Last delivery</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
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
  const icon = { size: 16, 'aria-hidden': true } as const
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={28} aria-label={`Actions for ${name}`}>
          <Ellipsis size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<FlaskConical {...icon} />} onClick={() => onOpen('try', webhook)}>
          Try a delivery
        </Menu.Item>
        <Menu.Item leftSection={<PencilLine {...icon} />} onClick={() => onOpen('edit', webhook)}>
          Edit
        </Menu.Item>
        {scheme !== 'none' && (
          <Menu.Item leftSection={<KeyRound {...icon} />} onClick={() => onOpen('secret', webhook)}>
            {secrets.length > 0 ? 'Rotate secret' : 'Set secret'}
          </Menu.Item>
        )}
        <Menu.Item
          leftSection={enabled ? <CirclePause {...icon} /> : <Play {...icon} />}
          onClick={() => update.mutate({ workflowId, inboundId: id, body: { enabled: !enabled } })}
        >
          {enabled ? 'Pause' : 'Resume'}
        </Menu.Item>
        <Menu.Item color="red" leftSection={<Trash2 {...icon} />} onClick={() => onOpen('delete', webhook)}>
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
