/** Redirect address of a platform's web sign-in, to be registered with the platform (SECURITY.md fixed-redirect). */
export function platformCallbackUrl(publicUrl: string, platformName: string): string {
  return `${new URL(publicUrl).origin}/oauth/platform/${platformName}/callback`;
}

/** Redirect address for an administrator who has installed the app in a further organisation. */
export function platformInstalledUrl(publicUrl: string, platformName: string): string {
  return `${new URL(publicUrl).origin}/oauth/platform/${platformName}/installed`;
}
