/**
 * Measures the processor time of this process. Unlike the time of a clock, it does not depend on other processes.
 * @returns the milliseconds spent since the call
 */
export function measureProcessorTime(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user: userUs, system: systemUs } = process.cpuUsage(before);
    return (userUs + systemUs) / 1_000;
  };
}
