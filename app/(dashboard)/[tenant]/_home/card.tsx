'use client'
import { Skeleton } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import styles from './home.module.css'

/** A part of Home that loads, fails and retries on its own. */
export function Card<T>({
  title,
  more,
  query,
  children,
}: {
  title: ReactNode
  more: { href: string; label: string }
  query: { data: T | undefined; error: unknown; refetch: () => unknown }
  children: (data: T) => ReactNode
}) {
  const heading = useId()
  return (
    <section className={styles.card} aria-labelledby={heading}>
      <div className={styles.head}>
        <h2 id={heading}>{title}</h2>
        <Link href={more.href}>{more.label}</Link>
      </div>
      {query.error !== null && (
        <div className={styles.pad}>
          <ErrorState error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {query.data !== undefined
        ? children(query.data)
        : query.error === null && (
            <div className={styles.pad} aria-busy="true">
              <Skeleton height={14} mb="sm" radius="sm" />
              <Skeleton height={14} width="70%" radius="sm" />
            </div>
          )}
    </section>
  )
}
