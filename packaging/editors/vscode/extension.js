// Starts `meanwhile lsp` as the settings say, and again when they change.

const vscode = require("vscode");
const {LanguageClient} = require("vscode-languageclient/node");

/** Settings that are options of the server. */
const OPTIONS = {cpu: "--cpu", compileCommands: "--compile-commands", object: "--object"};

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("meanwhile");
  const program = settings.get("path") || "meanwhile";
  const given = Object.entries(OPTIONS).filter(([key]) => settings.get(key));
  const args = ["lsp", ...given.flatMap(([key, option]) => [option, settings.get(key)])];
  // Paths in settings are meant from the folder that is open.
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  // What was built may be of any language.
  const languages = settings.get("object") ? [undefined] : ["usuba", "c", "cpp"];
  const documentSelector = languages.map((language) => ({scheme: "file", language}));
  client = new LanguageClient(
    "meanwhile", "meanwhile", {command: program, args, options: {cwd}}, {documentSelector});
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(
      `\`${[program, ...args].join(" ")}\` does not serve: ${error.message ?? error}. ` +
      "The setting meanwhile.path says where the program is.");
  }
}

async function stop() {
  const ending = client;
  client = undefined;
  await ending?.stop();
}

async function restart() {
  await stop();
  await start();
}

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("meanwhile.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("meanwhile")) {
        return restart();
      }
    }));
  return start();
};

exports.deactivate = stop;
