'use client'
import { Menu } from '@mantine/core'
import { RefreshCw, ScanEye } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { IdText } from '@/app/_ui/id-text'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { Time } from '@/app/_ui/time'
import type { SecretItem } from '@/server/views/credentials/signing-secrets'
import { CredentialMenu } from '../credential-menu'
import { CredentialStatus } from '../credential-state'
import { CredentialTable } from '../credential-table'
import styles from '../settings.module.css'
import { limitText } from './limits'

const RotateDialog = dynamic(() => loadDialog(() => import('./rotate-dialog').then((file) => file.RotateDialog)), {
  loading: WaitingDialog,
})
const LimitsDialog = dynamic(() => loadDialog(() => import('./limits-dialog').then((file) => file.LimitsDialog)), {
  loading: WaitingDialog,
})

export function SecretTable({ secrets }: { secrets: SecretItem[] }) {
  return (
    <CredentialTable
      items={secrets}
      named="Name and kid"
      mark={({ id }) => <IdText id={id} />}
      state={({ state, graceUntil, replacedBy, longLivedAt, ...limits }) => (
        <>
          <CredentialStatus item={{ state, graceUntil }} successor={replacedBy ?? undefined} />
          {limitText(limits) && (
            <span className={`${styles.quiet} ${styles.brief}`}>Limited to {limitText(limits)}</span>
          )}
          {longLivedAt && (
            <span className={styles.quiet}>
              Long-lived tokens seen <Time at={longLivedAt} />
            </span>
          )}
        </>
      )}
      menu={(secret) => secret.state !== 'replaced' && <SecretMenu item={secret} />}
    />
  )
}

function SecretMenu({ item }: { item: SecretItem }) {
  const trpc = useTRPC()
  const { secrets } = useTRPCClient()
  const [limiting, setLimiting] = useState(false)
  const [rotating, setRotating] = useState(false)
  return (
    <>
      <CredentialMenu
        item={item}
        called={item.name}
        disabled={item.state === 'disabled'}
        server={{
          kind: trpc.secrets.pathKey(),
          enable: (id) => secrets.enable.mutate({ id }),
          disable: (id) => secrets.disable.mutate({ id }),
        }}
        told={{
          enabled: `Tokens of ${item.name} work again.`,
          disabled: `${item.name} is disabled: calls with its tokens get 401.`,
        }}
      >
        {(item.role === 'viewer' || item.role === 'operator') && (
          <Menu.Item leftSection={<ScanEye size={16} aria-hidden />} onClick={() => setLimiting(true)}>
            Limits
          </Menu.Item>
        )}
        {item.state === 'enabled' && (
          <Menu.Item leftSection={<RefreshCw size={16} aria-hidden />} onClick={() => setRotating(true)}>
            Rotate
          </Menu.Item>
        )}
      </CredentialMenu>
      {limiting && <LimitsDialog secret={item} onClose={() => setLimiting(false)} />}
      {rotating && <RotateDialog secret={item} onClose={() => setRotating(false)} />}
    </>
  )
}
