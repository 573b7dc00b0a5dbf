'use client'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { IdText } from '@/app/_ui/id-text'
import { StatusPill } from '@/app/_ui/status-pill'
import { Time } from '@/app/_ui/time'
import type { SecretItem } from '@/server/views/credentials/signing-secrets'
import { CredentialMenu } from '../credential-menu'
import { CredentialTable } from '../credential-table'
import styles from '../settings.module.css'

export function SecretTable({ secrets }: { secrets: SecretItem[] }) {
  return (
    <CredentialTable
      items={secrets}
      named="Name and kid"
      mark={({ id }) => <IdText id={id} />}
      state={({ state, longLivedAt }) => (
        <>
          <StatusPill status={state} />
          {longLivedAt && (
            <span className={styles.quiet}>
              Long-lived tokens seen <Time at={longLivedAt} />
            </span>
          )}
        </>
      )}
      menu={(secret) => <SecretMenu item={secret} />}
    />
  )
}

function SecretMenu({ item }: { item: SecretItem }) {
  const trpc = useTRPC()
  const { secrets } = useTRPCClient()
  return (
    <CredentialMenu
      item={item}
      called={item.name}
      disabled={item.state !== 'enabled'}
      server={{
        kind: trpc.secrets.pathKey(),
        enable: (id) => secrets.enable.mutate({ id }),
        disable: (id) => secrets.disable.mutate({ id }),
      }}
      told={{
        enabled: `Tokens of ${item.name} work again.`,
        disabled: `${item.name} is disabled: calls with its tokens get 401.`,
      }}
    />
  )
}
