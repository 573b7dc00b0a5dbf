import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { HeaderSkeleton } from '../../header-skeleton'

export default function Loading() {
  return (
    <>
      <HeaderSkeleton here="versions" />
      <PageBody>
        <Skeleton height={240} radius="md" />
      </PageBody>
    </>
  )
}
