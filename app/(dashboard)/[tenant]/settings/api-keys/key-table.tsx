'use client'
import { Menu } from '@mantine/core'
import { RefreshCw } from 'lucide-react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import type { KeyItem } from '@/server/views/credentials/api-keys'
import { CredentialMenu } from '../credential-menu'
import { CredentialStatus } from '../credential-state'
import { CredentialTable } from '../credential-table'
import styles from '../settings.module.css'

type Rotate = (key: { id: string; name: string }) => void

export function KeyTable({ keys, all, onRotate }: { keys: KeyItem[]; all: KeyItem[]; onRotate: Rotate }) {
  return (
    <CredentialTable
      items={keys}
      named="Name"
      mark={(key) => <span className={`mono ${styles.quiet}`}>{key.hint}</span>}
      state={(key) => <CredentialStatus item={key} successor={all.find(({ id }) => id === key.replacedBy)?.hint} />}
      menu={(key) => key.state !== 'replaced' && <KeyMenu item={key} onRotate={onRotate} />}
    />
  )
}

function KeyMenu({ item, onRotate }: { item: KeyItem; onRotate: Rotate }) {
  const trpc = useTRPC()
  const { keys } = useTRPCClient()
  return (
    <CredentialMenu
      item={item}
      called={`${item.name} ${item.hint}`}
      disabled={item.state === 'disabled'}
      server={{
        kind: trpc.keys.pathKey(),
        enable: (id) => keys.enable.mutate({ id }),
        disable: (id) => keys.disable.mutate({ id }),
      }}
      told={{ enabled: `${item.name} works again.`, disabled: `${item.name} is disabled: calls with it get 401.` }}
    >
      {item.state === 'enabled' && (
        <Menu.Item leftSection={<RefreshCw size={16} aria-hidden />} onClick={() => onRotate(item)}>
          Rotate
        </Menu.Item>
      )}
    </CredentialMenu>
  )
}
