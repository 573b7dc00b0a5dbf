'use client'
import { Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ErrorState } from '@/app/_ui/error-state'
import { Clock, Time, useNow } from '@/app/_ui/time'
import styles from './link-list.module.css'

interface Listed {
  id: string
  expiresAt: string
  revokedAt: string | null
  /** Of a link that works once. */
  usedAt?: string | null
  /** Of a link that works only as long as its maker has the right that it passes on. */
  makerMayStart?: boolean
}

/** Links and whether they still work. */
export function LinkList<L extends Listed>({
  label,
  links,
  note,
  revoking,
  onRevoke,
  error,
}: {
  label: string
  links: readonly L[]
  /** Who made it, and for what. */
  note: (link: L) => ReactNode
  /** The id of the link that is being revoked. */
  revoking: string | null
  /** Absent for people who may not revoke links. */
  onRevoke?: ((link: L) => void) | undefined
  error: unknown
}) {
  if (links.length === 0) return null
  return (
    <section aria-label={label}>
      <ul className={styles.links}>
        {links.map((link) => (
          <li key={link.id}>
            <Group justify="space-between" gap="xs">
              <Text size="sm" className={styles.note ?? ''}>
                {note(link)}
              </Text>
              <State link={link} busy={revoking === link.id} onRevoke={onRevoke && (() => onRevoke(link))} />
            </Group>
          </li>
        ))}
      </ul>
      {error != null && <ErrorState error={error} title="The link was not revoked" />}
    </section>
  )
}

function State({ link, busy, onRevoke }: { link: Listed; busy: boolean; onRevoke: (() => void) | undefined }) {
  const now = useNow(15_000)
  const [word, at] = link.usedAt
    ? ['Used', link.usedAt]
    : link.revokedAt
      ? ['Revoked', link.revokedAt]
      : Date.parse(link.expiresAt) <= now
        ? ['Expired', link.expiresAt]
        : ['', '']
  if (word) {
    return (
      <Text size="sm" c="dimmed">
        {word} <Time at={at} />
      </Text>
    )
  }
  return (
    <Group gap="sm" wrap="nowrap">
      <Text size="sm" c="dimmed">
        {link.makerMayStart === false ? (
          'Ended: its maker may no longer start this'
        ) : (
          <>
            Until <Clock at={link.expiresAt} />
          </>
        )}
      </Text>
      {onRevoke && (
        <Button variant="default" size="compact-sm" loading={busy} onClick={onRevoke}>
          Revoke
        </Button>
      )}
    </Group>
  )
}
