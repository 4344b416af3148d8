// What the page has beside the browser's own names: put there by Dash, by the page itself, or by the app.
interface Window {
  backstep: any;
  backstepHears: any;
  backstepLesson: any;
  backstepParts: Record<string, any>;
  dash_ag_grid: any;
  dash_clientside: any;
}
