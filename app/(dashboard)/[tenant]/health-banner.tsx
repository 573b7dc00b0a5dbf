'use client'
import { useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import styles from './health-banner.module.css'
import { useTenant } from './tenant-context'

const MESSAGES: Record<string, string> = {
  database: 'The database is not responding.',
  engine: 'The engine is not responding, so runs do not continue.',
}

/** A warning above every screen while part of the service is down, for members who can fix it. */
export function HealthBanner() {
  const trpc = useTRPC()
  const { may } = useTenant()
  const { data } = useQuery({
    ...trpc.home.health.queryOptions(),
    enabled: may('settings:manage'),
    refetchInterval: 30_000,
    staleTime: 15_000,
  })
  if (!data || data.status === 'ok') return null
  const failed = Object.entries(data.checks).flatMap(([name, state]) =>
    state === 'failed' ? [MESSAGES[name] ?? name] : [],
  )
  return (
    <div className={styles.banner} role="alert">
      <TriangleAlert size={16} aria-hidden />
      <span>
        {failed.join(' ')} Run <code>npm run admin -- doctor</code> for details.
      </span>
    </div>
  )
}
