'use client'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useUrlState } from '@/app/_ui/use-url-state'
import { useTenant } from '../tenant-context'
import { Checklist } from './checklist'
import styles from './home.module.css'
import { LiveCard } from './live-card'
import { Pulse } from './pulse'
import { FailedCard, RecentCard } from './run-cards'
import { WaitingCard } from './waiting-card'

/** The workspace's current activity and the next things to do. */
export function Home() {
  const { user, name } = useTenant()
  const welcome = useUrlState().get('welcome') !== ''
  const trpc = useTRPC()
  const facts = useQuery({ ...trpc.home.checklist.queryOptions(), enabled: welcome })
  const hasSamples = facts.data?.sample != null
  const first = user.name.split(' ')[0] ?? user.name
  return (
    <>
      <PageHeader title={welcome ? `Welcome, ${first}` : 'Home'} meta={<Pulse />} />
      <PageBody>
        {welcome && facts.data && (
          <p className={styles.welcome}>
            {name} is ready{hasSamples && ', with samples to try'}.{' '}
            {hasSamples
              ? 'Start one below and watch it run; the rest of the list can wait.'
              : 'Begin with the list below, or go straight to what you came for.'}
          </p>
        )}
        <Checklist />
        <div className={styles.cards}>
          <WaitingCard />
          <FailedCard />
          <RecentCard />
          <LiveCard />
        </div>
      </PageBody>
    </>
  )
}
